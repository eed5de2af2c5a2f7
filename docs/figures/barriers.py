"""barriers"""
