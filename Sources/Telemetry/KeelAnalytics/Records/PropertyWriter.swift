internal import KeelCBOR
internal import KeelCore

struct PropertyWriter: Sendable {
    /// The maximum nesting of arrays and objects; deeper ones become null.
    static let depthLimit = 32
    /// Shorter texts match no pattern of secrets.
    private static let shortestSecret = 5
    /// Smaller numbers match no pattern of secrets.
    private static let shortestSecretNumber: UInt64 = 1_000_000_000_000
    /// A class, because a copy of a redactor retains five objects per property.
    private final class Rules: Sendable {
        let redactor: Redactor

        init(_ redactor: Redactor) { self.redactor = redactor }
    }

    private let rules: Rules?
    /// A cache of whether values of a name are redacted.
    private var names = RecentNames()

    init(redactor: Redactor?) { rules = redactor.map(Rules.init) }

    /// Writes a map of properties, and an additional value unless its name exists.
    mutating func write(
        _ values: [String: AnalyticsValue],
        and extra: (name: String, value: AnalyticsValue)? = nil,
        to writer: inout CBORWriter
    ) {
        let extra = extra.flatMap { values[$0.name] == nil ? $0 : nil }
        writer.mapHeader(values.count + (extra == nil ? 0 : 1))
        write(pairs: values, to: &writer, depth: 0)
        if let extra { write(extra.value, named: extra.name, to: &writer) }
    }

    private mutating func write(
        pairs values: [String: AnalyticsValue],
        to writer: inout CBORWriter,
        depth: Int
    ) {
        // By index, because iterating over pairs copies each of them several times.
        var place = values.startIndex
        while place != values.endIndex {
            write(values.values[place], named: values.keys[place], to: &writer, depth: depth)
            values.formIndex(after: &place)
        }
    }

    private mutating func write(
        _ value: AnalyticsValue,
        named name: String,
        to writer: inout CBORWriter,
        depth: Int = 0
    ) {
        var isSensitive = false
        switch rules.map({ verdict(on: name, $0) }) {
        case .secret:
            writer.text(redacted(name))
            isSensitive = rules?.redactor.isSensitive(name) == true
        case .sensitive:
            writer.text(name)
            isSensitive = true
        default: writer.text(name)
        }
        guard let rules, isSensitive, value != .null else {
            return write(value, to: &writer, depth: depth)
        }
        writer.text(rules.redactor.marker.replacement(for: Self.text(of: value).utf8))
    }

    private mutating func write(
        _ value: AnalyticsValue,
        to writer: inout CBORWriter,
        depth: Int
    ) {
        switch value {
        case .string(let text):
            guard let rules, text.utf8.count >= Self.shortestSecret else {
                return writer.text(text)
            }
            let isWritten = text.utf8.withContiguousStorageIfAvailable { bytes in
                guard !rules.redactor.isNeeded(for: bytes) else { return false }
                writer.text(utf8: bytes)
                return true
            }
            if isWritten != true { writer.text(rules.redactor.redact(text)) }
        case .array(let values):
            guard depth < Self.depthLimit else { return writer.null() }
            writer.arrayHeader(values.count)
            for value in values { write(value, to: &writer, depth: depth + 1) }
        case .object(let values):
            guard depth < Self.depthLimit else { return writer.null() }
            writer.mapHeader(values.count)
            write(pairs: values, to: &writer, depth: depth + 1)
        case .integer(let number): write(value, whole: number.magnitude, to: &writer)
        case .double(let number):
            write(value, whole: UInt64(exactly: number.magnitude) ?? 0, to: &writer)
        default: writer.write(value)
        }
    }

    private func write(
        _ value: AnalyticsValue,
        whole number: UInt64,
        to writer: inout CBORWriter
    ) {
        guard number >= Self.shortestSecretNumber, rules != nil else { return writer.write(value) }
        let text = "\(number)"
        let redacted = redacted(text)
        if redacted == text { writer.write(value) } else { writer.text(redacted) }
    }

    func redacted(_ text: String) -> String { rules?.redactor.redact(text) ?? text }

    mutating func redacted(_ values: [String: AnalyticsValue]) -> [String: AnalyticsValue] {
        var writer = CBORWriter()
        write(values, to: &writer)
        var reader = CBORReader(writer.bytes)
        // Cannot fail: it was just written.
        return (try? reader.readValues()) ?? [:]
    }

    private mutating func verdict(on name: String, _ rules: Rules) -> RecentNames.Verdict {
        var name = name
        return name.withUTF8 { bytes in
            names.verdict(on: bytes) { rules.redactor.verdict(onName: $0) }
        }
    }

    private static func text(of value: AnalyticsValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        default: "\(value)"
        }
    }
}

extension PropertyWriter {
    func redacted(_ kind: AnalyticsRecord.Kind) -> AnalyticsRecord.Kind {
        switch kind {
        case .event(let name): .event(redacted(name))
        case .screen(let name): .screen(redacted(name))
        case .identify, .userProperties: kind
        }
    }
}
