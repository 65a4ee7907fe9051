#if Logging

internal import Logging

/// The format in which records are written as lines.
public struct LogFormat: Sendable {
    private enum Kind {
        case json
        case text(TextLine)
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// One JSON object per line, with the time in UTC, for programs.
    ///
    /// The keys are `time`, `level`, `label`, `message`, `metadata` (if there are fields), `source`, `file`, `function`
    /// and `line`, in this order.
    public static let jsonLines = LogFormat(.json)

    /// Returns a format for people: one line of text per record, with the local time.
    ///
    /// - Parameters:
    ///   - symbols: Whether each line begins with a symbol for its level.
    ///   - colors: Whether levels are colored with terminal escape sequences.
    ///   - indentsLineBreaks: Whether line breaks in a text are kept and indented; otherwise they are shown as `\n`.
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

    /// Returns the bytes of a record, with the final line break.
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
