"""What every picture and page is made of: markup, one look, drawings."""
