#if Logging

internal import Logging

/// How records are written as lines.
public struct LogFormat: Sendable {
    private enum Kind {
        case json
        case text(TextLine)
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// One JSON object on each line, with the time in UTC: for programs.
    ///
    /// The keys are `time`, `level`, `label`, `message`, `metadata`, `source`, `file`, `function`
    /// and `line`, in this order.
    public static let jsonLines = LogFormat(.json)

    /// One line of text for each record, with the time on the wall: for people.
    ///
    /// - Parameters:
    ///   - symbols: Whether each line begins with a symbol of its level.
    ///   - colors: Whether levels have colours, by the escape sequences of terminals.
    ///   - indentsLineBreaks: Whether a text of several lines is written as such, indented; else
    ///     its line breaks are shown as `\n`.
    /// - Returns: The format.
    public static func text(
        symbols: Bool = false,
        colors: Bool = false,
        indentsLineBreaks: Bool = false
    ) -> LogFormat {
        LogFormat(
            .text(
                TextLine(
                    hasSymbols: symbols,
                    hasColors: colors,
                    indentsLineBreaks: indentsLineBreaks
                )
            )
        )
    }

    var isJSON: Bool {
        if case .json = kind { true } else { false }
    }

    /// The bytes of a record, with the line break at their end.
    public func bytes(of record: LogRecord) -> [UInt8] {
        var line = LineBuffer()
        append(record, to: &line)
        return Array(line.bytes)
    }

    func append(_ record: LogRecord, to line: inout LineBuffer) {
        switch kind {
        case .json: JSONLine.append(record, to: &line)
        case .text(let text): text.append(record, to: &line)
        }
    }
}

#endif
