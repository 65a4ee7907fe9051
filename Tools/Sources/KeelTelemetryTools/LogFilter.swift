internal import Foundation
package import KeelLogging
package import Logging

/// Conditions on the records of a log, all of which must hold.
package struct LogFilter: Sendable {
    package struct Pattern: Sendable {
        // A regular expression does not change once it is made.
        nonisolated(unsafe) private let expression: Regex<AnyRegexOutput>

        /// Parses a regular expression in Swift's syntax; throws an error that describes where the text is wrong.
        package init(_ text: String) throws { expression = try Regex(text) }

        package func matches(_ text: String) -> Bool { text.firstMatch(of: expression) != nil }
    }

    // The names used by swift-otel, Zipkin's instruments and W3C Trace Context.
    private static let traceNames = ["trace_id", "trace-id", "traceId", "traceID"]

    package var level = Logger.Level.trace
    /// The label of the logger, or its beginning up to a dot.
    package var label: String?
    /// The start time, inclusive, in microseconds since 1970.
    package var since: Int64?
    /// The end time, exclusive, in microseconds since 1970.
    package var until: Int64?
    package var fields: [Field] = []
    /// A text in the message, ignoring case.
    package var text: String?
    /// A regular expression that matches a part of the message.
    package var pattern: Pattern?
    /// The id of the trace, ignoring case.
    package var trace: String?

    package init() {}

    package func matches(_ record: LogRecord) -> Bool {
        guard record.level >= level, since.map({ record.time >= $0 }) ?? true,
            until.map({ record.time < $0 }) ?? true, matches(label: record.label),
            fields.allSatisfy({ matches($0, record) }),
            trace.map({ matches(trace: $0, record) }) ?? true,
            pattern.map({ $0.matches(record.message) }) ?? true
        else { return false }
        guard let text else { return true }
        return record.message.range(of: text, options: .caseInsensitive) != nil
    }

    private func matches(label: String) -> Bool {
        guard let wanted = self.label else { return true }
        return label == wanted || label.hasPrefix(wanted + ".")
    }

    private func matches(trace: String, _ record: LogRecord) -> Bool {
        Self.traceNames.contains { name in
            record[name].map { $0.description.lowercased() == trace.lowercased() } ?? false
        }
    }

    private func matches(_ field: Field, _ record: LogRecord) -> Bool {
        record[field.name].map(field.matches) ?? false
    }
}
