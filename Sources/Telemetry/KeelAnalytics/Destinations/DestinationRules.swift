internal import KeelCBOR
public import KeelCore

/// The records and properties that a destination receives.
///
/// Rules apply when a batch is built, to properties and user properties at any depth. The stored record does not
/// change, so another destination can receive more.
public struct DestinationRules: Sendable {
    /// The names of properties that are removed.
    public var droppedProperties: Set<String> = []
    /// The names of properties that are replaced with a keyed hash of 64 hexadecimal digits.
    ///
    /// Equal values have equal hashes, and without the key the value cannot be found by trial. Null stays null, and a
    /// value that cannot be hashed is removed.
    public var hashedProperties: Set<String> = []
    /// Whether the user's id is replaced with a keyed hash, or removed if it cannot be hashed.
    public var hashesUserID = false
    /// Makes the hashes with its `fingerprint`, in the context `KeelAnalytics`.
    public var hashing: (any ByteSealing)?
    /// Returns whether the destination receives a record, as it is before the other rules; nil for all records.
    ///
    /// Other records count as rejected with the reason `filtered`.
    public var accepts: (@Sendable (AnalyticsRecord) -> Bool)?

    /// Creates rules that change nothing.
    public init() {}

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - dropped: The names of properties to remove.
    ///   - hashed: The names of properties to replace with a keyed hash.
    ///   - hashing: Makes the hashes; required if anything is hashed.
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

    /// The record as the destination receives it; nil if it does not.
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
                // A value that cannot be hashed is removed.
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
        let print = try? hashing?.fingerprint(bytes, context: Array("KeelAnalytics".utf8))
        return print.map { Hexadecimal.text(of: $0) }
    }
}

extension CBORWriter {
    /// Writes a value with sorted object keys, so that equal values have equal bytes.
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
