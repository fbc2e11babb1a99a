"""What Vantage is measured against."""
