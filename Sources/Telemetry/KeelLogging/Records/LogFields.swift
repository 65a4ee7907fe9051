#if Logging

internal import KeelCore
internal import Logging

/// The fields of a record under construction: those of the logger, and those of the statement.
///
/// One array holds them throughout, so a record costs one allocation.
struct LogFields {
    /// Those of the logger come first and are already redacted.
    var all: [LogField]
    /// Replaces nested values marked as sensitive; nil leaves them.
    private let marker: RedactionMarker?

    init(_ base: [LogField], room: Int, marker: RedactionMarker?) {
        all = base
        self.marker = marker
        if room > 0 { all.reserveCapacity(base.count + room) }
    }

    /// Adds metadata; its values replace earlier ones of the same name.
    mutating func add(_ metadata: Logger.Metadata) {
        let earlier = all.count
        for (name, value) in metadata {
            let field: LogField
            if case .string(let text) = value {
                field = LogField(name, .text(text), rule: .names)
            } else {
                field = LogField(name, LogValue(value, marker), rule: value.rule)
            }
            if earlier == 0 { all.append(field) } else { put(field, among: earlier) }
        }
    }

    /// Adds an error under the names of OpenTelemetry and swift-log.
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

    mutating func sort() {
        guard all.count < 32 else { return all.sort { $0.name < $1.name } }
        // For the few fields of a statement, insertion sort is faster than the standard sort.
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
    /// The check that a field still needs before it may be written.
    enum Rule: UInt8, Sendable {
        /// None.
        case nothing
        /// The patterns in its texts.
        case forms
        /// Its name, then its texts.
        case names
        /// None: its author marked it as sensitive, so it is replaced.
        case hiding
    }
}

extension LogValue {
    /// Converts a metadata value.
    init(_ value: Logger.MetadataValue, _ marker: RedactionMarker?) {
        switch value {
        case .string(let text): self = .text(text)
        case .stringConvertible(let value): self = .text(value.description)
        case .array(let values):
            self = .list(values.map { LogValue(part: $0, marker) })
        case .dictionary(let values):
            let fields = values.map { LogField($0.key, LogValue(part: $0.value, marker)) }
            self = .map(fields.sorted { $0.name < $1.name })
        }
    }

    /// Converts a nested value, which has no rule of its own: a sensitive one is replaced here.
    private init(part value: Logger.MetadataValue, _ marker: RedactionMarker?) {
        self.init(value, marker)
        if let marker, value.rule == .hiding { self = hidden(by: marker) }
    }
}

extension Logger.MetadataValue {
    var rule: LogField.Rule {
        guard case .stringConvertible = self else { return .names }
        return switch attributes[LogSensitivity.self] {
        case .sensitive: .hiding
        case .public: .nothing
        case nil: .names
        }
    }
}

#endif
