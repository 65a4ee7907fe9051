#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension AnalyticsValue {
    /// Converts an encodable value.
    ///
    /// Dates stay dates. Integers beyond `Int64` and `Decimal` numbers become doubles; URLs, UUIDs (in lowercase) and
    /// data (as Base64) become text.
    ///
    /// - Throws: Any error that the value throws when encoded.
    public init(encoding value: some Encodable) throws {
        let slot = AnalyticsValueSlot()
        try slot.encode(value, at: [])
        self = slot.value
    }
}

/// A slot that an encoder fills; a class, because containers are written to after they are returned.
private final class AnalyticsValueSlot {
    private enum Content {
        case single(AnalyticsValue)
        case list([AnalyticsValueSlot])
        case table([(key: String, slot: AnalyticsValueSlot)])
    }

    private var content = Content.single(.null)

    var value: AnalyticsValue {
        switch content {
        case .single(let value): value
        case .list(let slots): .array(slots.map(\.value))
        case .table(let entries):
            .object(
                Dictionary(entries.map { ($0.key, $0.slot.value) }) { _, last in last }
            )
        }
    }

    var count: Int {
        if case .list(let slots) = content { slots.count } else { 0 }
    }

    func set(_ value: AnalyticsValue) { content = .single(value) }

    func makeList() {
        if case .list = content { return }
        content = .list([])
    }

    func makeTable() {
        if case .table = content { return }
        content = .table([])
    }

    func appended() -> AnalyticsValueSlot {
        let slot = AnalyticsValueSlot()
        if case .list(let slots) = content { content = .list(slots + [slot]) }
        return slot
    }

    func slot(for key: String) -> AnalyticsValueSlot {
        let slot = AnalyticsValueSlot()
        if case .table(let entries) = content { content = .table(entries + [(key, slot)]) }
        return slot
    }

    /// Encodes a value, keeping the types that have their own case.
    func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let value as AnalyticsValue: set(value)
        case let value as Date: set(.date(value))
        case let value as Decimal: set(.double(Double(value.description) ?? .nan))
        case let value as URL: set(.string(value.absoluteString))
        case let value as UUID: set(.string(value.uuidString.lowercased()))
        case let value as Data: set(.string(value.base64EncodedString()))
        default: try value.encode(to: AnalyticsValueEncoder(self, at: path))
        }
    }
}

private struct AnalyticsValueEncoder: Encoder, SingleValueEncodingContainer {
    let slot: AnalyticsValueSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ slot: AnalyticsValueSlot, at path: [any CodingKey]) {
        self.slot = slot
        codingPath = path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.makeTable()
        return KeyedEncodingContainer(AnalyticsTableContainer(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.makeList()
        return AnalyticsListContainer(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { slot.set(.null) }
    func encode(_ value: Bool) { slot.set(.boolean(value)) }
    func encode(_ value: String) { slot.set(.string(value)) }
    func encode(_ value: Double) { slot.set(.double(value)) }
    func encode(_ value: Float) { slot.set(.double(Double(value))) }
    func encode(_ value: Int) { integer(value) }
    func encode(_ value: Int8) { integer(value) }
    func encode(_ value: Int16) { integer(value) }
    func encode(_ value: Int32) { integer(value) }
    func encode(_ value: Int64) { integer(value) }
    func encode(_ value: UInt) { integer(value) }
    func encode(_ value: UInt8) { integer(value) }
    func encode(_ value: UInt16) { integer(value) }
    func encode(_ value: UInt32) { integer(value) }
    func encode(_ value: UInt64) { integer(value) }
    func encode(_ value: some Encodable) throws { try slot.encode(value, at: codingPath) }

    private func integer(_ value: some BinaryInteger) {
        slot.set(Int64(exactly: value).map { .integer($0) } ?? .double(Double(value)))
    }
}

private struct AnalyticsTableContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: AnalyticsValueSlot
    let codingPath: [any CodingKey]

    private func encoder(for key: some CodingKey) -> AnalyticsValueEncoder {
        AnalyticsValueEncoder(slot.slot(for: key.stringValue), at: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { encoder(for: key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        try encoder(for: key).encode(value)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(for: key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { encoder(for: AnalyticsSuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }
}

private struct AnalyticsListContainer: UnkeyedEncodingContainer {
    let slot: AnalyticsValueSlot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    private func next() -> AnalyticsValueEncoder {
        AnalyticsValueEncoder(slot.appended(), at: codingPath)
    }

    func encodeNil() { next().encodeNil() }
    func encode(_ value: some Encodable) throws { try next().encode(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { next().container(keyedBy: type) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    func superEncoder() -> any Encoder { next() }
}

/// The key for the superclass, named as in Foundation's coders.
private struct AnalyticsSuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}
