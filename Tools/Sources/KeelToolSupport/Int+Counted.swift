extension Int {
    /// Returns the number with a noun: “1 file”, “2 files”; the default of `many` is `one` with an “s”.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
