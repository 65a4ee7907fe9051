/// Where the app shows things.
public struct Screen: Sendable {
    /// How many characters fit into a line.
    public let width: Int
    /// Whether words can be set off from each other.
    public let style: Style

    private let write: @Sendable (String) -> Void

    /// Creates a screen.
    ///
    /// - Parameters:
    ///   - width: How many characters fit into a line.
    ///   - style: How words are set off.
    ///   - write: Shows a text, followed by a line break, at once.
    public init(
        width: Int = 100,
        style: Style = .plain,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.width = width
        self.style = style
        self.write = write
    }

    /// Shows a text below what was shown before.
    public func show(_ text: String) { write(text) }
}

/// How words are set off from each other.
public enum Style: Hashable, Sendable {
    /// Not at all: for pipes, files and tests.
    case plain
    /// With the escape codes of terminals.
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
