"""What all API views share."""
