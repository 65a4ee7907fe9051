/// The output of the app.
public struct Screen: Sendable {
    /// The width in characters.
    public let width: Int
    /// The style of emphasis.
    public let style: Style

    private let write: @Sendable (String) -> Void

    /// Creates a screen.
    ///
    /// - Parameters:
    ///   - width: The width in characters.
    ///   - style: The style of emphasis.
    ///   - write: Immediately shows a text, followed by a line break.
    public init(
        width: Int = 100,
        style: Style = .plain,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.width = width
        self.style = style
        self.write = write
    }

    /// Shows a text below the previous output.
    public func show(_ text: String) { write(text) }
}

/// A style of emphasis.
public enum Style: Hashable, Sendable {
    /// Without emphasis, for pipes, files and tests.
    case plain
    /// With escape codes for terminals.
    case terminal

    func bold(_ text: String) -> String { escaped(text, "1") }
    func faint(_ text: String) -> String { escaped(text, "2") }
    func red(_ text: String) -> String { escaped(text, "31") }
    func green(_ text: String) -> String { escaped(text, "32") }
    func yellow(_ text: String) -> String { escaped(text, "33") }

    private func escaped(_ text: String, _ code: String) -> String {
        self == .plain ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
