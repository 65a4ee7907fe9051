#if Logging

internal import Logging

/// The fields of one record while it is made: those of the logger, and what the statement adds.
///
/// One array holds them from the beginning to the end: a record costs one allocation.
struct LogFields {
    /// The fields; those of the logger first, which were looked at when it was given them.
    var all: [LogField]

    init(_ base: [LogField], room: Int) {
        all = base
        if room > 0 { all.reserveCapacity(base.count + room) }
    }

    /// Adds metadata, whose values take the place of earlier ones of the same name.
    mutating func add(_ metadata: Logger.Metadata) {
        let earlier = all.count
        for (name, value) in metadata {
            let field: LogField
            if case .string(let text) = value {
                field = LogField(name, .text(text), rule: .names)
            } else {
                field = LogField(name, LogValue(value), rule: value.rule)
            }
            if earlier == 0 { all.append(field) } else { put(field, among: earlier) }
        }
    }

    /// Adds an error, under the names that OpenTelemetry and swift-log have for it.
    mutating func add(_ error: any Error) {
        let earlier = all.count
        put(LogField("error.type", .text(String(reflecting: type(of: error)))), among: earlier)
        var message = LogField("error.message", .text(String(describing: error)))
        message.rule = .forms
        put(message, among: earlier)
    }

    private mutating func put(_ field: LogField, among earlier: Int) {
        if earlier > 0, let index = all[..<earlier].firstIndex(where: { $0.name == field.name }) {
            all[index] = field
        } else {
            all.append(field)
        }
    }

    /// Brings the fields into ascending order.
    mutating func sort() {
        guard all.count < 32 else { return all.sort { $0.name < $1.name } }
        // A statement has few fields: moving them is faster than what sorts many.
        for end in all.indices.dropFirst() {
            var index = end
            while index > 0, all[index].name < all[index - 1].name {
                all.swapAt(index, index - 1)
                index -= 1
            }
        }
    }
}

extension LogField {
    /// What still has to be looked at before the field may be written down.
    enum Rule: UInt8, Sendable {
        /// Nothing any more.
        case nothing
        /// The form of its texts.
        case forms
        /// Its name, and then its texts.
        case names
        /// Nothing: its author said that it is to be replaced.
        case hiding
    }
}

extension LogValue {
    /// The value of metadata.
    init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .stringConvertible(let value): self = .text(value.description)
        case .array(let values):
            self = .list(values.map { LogValue(part: $0) })
        case .dictionary(let values):
            let fields = values.map { LogField($0.key, LogValue(part: $0.value)) }
            self = .map(fields.sorted { $0.name < $1.name })
        }
    }

    /// A value inside of another, which has no rule of its own: it is replaced here.
    private init(part value: Logger.MetadataValue) {
        self = value.rule == .hiding ? .text("<redacted>") : LogValue(value)
    }
}

extension Logger.MetadataValue {
    /// What has to be looked at.
    var rule: LogField.Rule {
        guard case .stringConvertible = self else { return .names }
        return switch attributes[LogSensitivity.self] {
        case .sensitive: .hiding
        case .open: .nothing
        case nil: .names
        }
    }
}

#endif
