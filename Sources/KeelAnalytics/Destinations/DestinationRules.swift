public import KeelCore

/// What a destination gets of each event.
///
/// Rules are applied when a batch is made, to properties and user properties of any depth. What is
/// kept on the device does not change: another destination may get more.
public struct DestinationRules: Sendable {
    /// The names of properties that it does not get.
    public var droppedProperties: Set<String> = []
    /// The names of properties that it gets in the form of a keyed hash, 64 hexadecimal digits:
    /// the same for the same value, and without the key nobody finds the value by trying.
    public var hashedProperties: Set<String> = []
    /// Whether it gets the user's id as a keyed hash.
    public var hashesUserID = false
    /// Makes the hashes: its `fingerprint` is used, with the context `KeelAnalytics`.
    public var hashing: (any ByteSealing)?
    /// Whether it gets a record at all; nil is all of them.
    ///
    /// What it does not get counts as rejected for the reason `filtered`.
    public var accepts: (@Sendable (AnalyticsRecord) -> Bool)?

    /// Creates rules that leave everything as it is.
    public init() {}

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - dropped: The names of properties that the destination does not get.
    ///   - hashed: The names of properties that it gets as a keyed hash.
    ///   - hashing: Makes the hashes; needed where something is hashed.
    public init(
        dropping dropped: Set<String> = [],
        hashing hashed: Set<String> = [],
        with hashing: (any ByteSealing)? = nil
    ) {
        droppedProperties = dropped
        hashedProperties = hashed
        self.hashing = hashing
    }

    var hashesAnything: Bool { hashesUserID || !hashedProperties.isEmpty }

    /// The record as the destination gets it, nil if it does not.
    func apply(to record: AnalyticsRecord) -> AnalyticsRecord? {
        guard accepts?(record) ?? true else { return nil }
        guard hashesAnything || !droppedProperties.isEmpty else { return record }
        var result = record
        result.properties = apply(to: record.properties)
        result.userProperties = apply(to: record.userProperties)
        if hashesUserID { result.userID = record.userID.flatMap(hash) }
        return result
    }

    private func apply(to values: [String: AnalyticsValue]) -> [String: AnalyticsValue] {
        var result: [String: AnalyticsValue] = [:]
        for (name, value) in values where !droppedProperties.contains(name) {
            if hashedProperties.contains(name) {
                // What cannot be hashed does not leave.
                result[name] = hash(value)
            } else {
                result[name] = apply(to: value)
            }
        }
        return result
    }

    private func apply(to value: AnalyticsValue) -> AnalyticsValue {
        switch value {
        case .array(let values): .array(values.map { apply(to: $0) })
        case .object(let values): .object(apply(to: values))
        default: value
        }
    }

    private func hash(_ value: AnalyticsValue) -> AnalyticsValue? {
        switch value {
        case .null: return .null
        case .string(let text): return hash(text).map { .string($0) }
        default:
            var writer = CBORWriter()
            writer.writeSorted(value)
            return hash(writer.bytes).map { .string($0) }
        }
    }

    private func hash(_ text: String) -> String? { hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) -> String? {
        guard let print = try? hashing?.fingerprint(bytes, context: Array("KeelAnalytics".utf8))
        else { return nil }
        return print.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

extension CBORWriter {
    /// Writes a value with the names of objects in order, so that equal values have equal bytes.
    fileprivate mutating func writeSorted(_ value: AnalyticsValue) {
        switch value {
        case .array(let values):
            arrayHeader(values.count)
            for value in values { writeSorted(value) }
        case .object(let values):
            mapHeader(values.count)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                text(name)
                writeSorted(value)
            }
        default: write(value)
        }
    }
}
