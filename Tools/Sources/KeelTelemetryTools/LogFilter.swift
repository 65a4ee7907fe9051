internal import Foundation
package import KeelLogging
package import Logging

/// Which records of a log are wanted; each condition that is set has to hold.
package struct LogFilter: Sendable {
    /// A condition on a field of the metadata.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, is value: String) {
            self.name = name
            self.value = value
        }

        /// Reads `NAME=VALUE`.
        package init?(_ text: String) {
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return nil }
            self.init(String(text[..<sign]), is: String(text[text.index(after: sign)...]))
        }
    }

    /// The least important level.
    package var level = Logger.Level.trace
    /// The label of the logger, or what it begins with up to a dot.
    package var label: String?
    /// The first moment, in microseconds since 1970.
    package var since: Int64?
    /// The first moment that is too late, in microseconds since 1970.
    package var until: Int64?
    package var fields: [Field] = []
    /// A text within the message, whatever the case of its letters.
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
