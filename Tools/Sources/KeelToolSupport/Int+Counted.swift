extension Int {
    /// Returns the number with the name of what it counts: “1 file”, “2 files”.
    ///
    /// - Parameters:
    ///   - one: The name of one thing.
    ///   - many: The name of several; nil if it is that of one with an “s”.
    /// - Returns: The text.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
