extension Int {
    /// Returns the number with the name of what it counts: “1 file”, “2 files”; without `many`, several have an “s”.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
