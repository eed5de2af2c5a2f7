"""timelines"""
