extension String {
    /// The text as one word of a command line, in quotes if it needs them.
    package var shellWord: String {
        let others = "-_./:=@%+,"
        let isPlain = unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x80 || scalar.properties.isAlphabetic
                || scalar.properties.numericType != nil || others.unicodeScalars.contains(scalar)
        }
        guard isEmpty || !isPlain else { return self }
        return "'" + replacing("'", with: "'\\''") + "'"
    }
}
