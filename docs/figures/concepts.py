"""concepts"""
