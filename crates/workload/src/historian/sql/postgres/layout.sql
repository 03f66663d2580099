SELECT layout FROM layout
