internal import Foundation
package import KeelLogging
package import Logging

/// A filter for the records of a log; all conditions must hold.
package struct LogFilter: Sendable {
    /// A condition on a field of the metadata.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, is value: String) {
            self.name = name
            self.value = value
        }

        /// Parses `NAME=VALUE`.
        package init?(_ text: String) {
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return nil }
            self.init(String(text[..<sign]), is: String(text[text.index(after: sign)...]))
        }
    }

    /// The lowest level.
    package var level = Logger.Level.trace
    /// The label of the logger, or a prefix of it up to a dot.
    package var label: String?
    /// The start time, inclusive, in microseconds since 1970.
    package var since: Int64?
    /// The end time, exclusive, in microseconds since 1970.
    package var until: Int64?
    package var fields: [Field] = []
    /// A text in the message, ignoring case.
    package var text: String?

    package init() {}

    package func matches(_ record: LogRecord) -> Bool {
        guard record.level >= level, since.map({ record.time >= $0 }) ?? true,
            until.map({ record.time < $0 }) ?? true, matches(label: record.label),
            fields.allSatisfy({ matches($0, record) })
        else { return false }
        guard let text else { return true }
        return record.message.range(of: text, options: .caseInsensitive) != nil
    }

    private func matches(label: String) -> Bool {
        guard let wanted = self.label else { return true }
        return label == wanted || label.hasPrefix(wanted + ".")
    }

    private func matches(_ field: Field, _ record: LogRecord) -> Bool {
        record[field.name].map { $0.description == field.value } ?? false
    }
}
