#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// Reads an unencrypted keyset in Tink's binary format.
    ///
    /// - Throws: `invalidKey` for damaged bytes, or `unsupportedKey` for keys of unknown types.
    public init(cleartextBinary: Data) throws(SecurityError) {
        var bytes = [UInt8](cleartextBinary)
        try self.init(wiping: &bytes)
    }

    /// Reads a keyset and overwrites the bytes it was read from.
    init(wiping bytes: inout [UInt8]) throws(SecurityError) {
        // This runs after the reader and its slices are gone: while they share the buffer, overwriting would copy it.
        defer { Zeroing.overwrite(&bytes) }
        self = try Self.read(bytes[...])
    }

    private static func read(_ bytes: ArraySlice<UInt8>) throws(SecurityError) -> Keyset {
        var primary: UInt32?
        var parts = KeysetParts()
        var reader = ProtobufReader(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .varint(let id)): primary = UInt32(exactly: id)
            case (2, .data(let data)): try read(data, into: &parts)
            default: break
            }
        }
        guard let primary, !reader.isDamaged else { throw Self.damaged }
        return try Keyset(keys: parts.keys(primaryID: primary), primaryID: primary)
    }

    /// Returns the unencrypted keyset in Tink's binary format: anyone with the bytes has the keys.
    public func cleartextBinary() -> Data {
        var bytes = binary()
        defer { Zeroing.overwrite(&bytes) }
        return Data(bytes)
    }

    func binary() -> [UInt8] {
        var writer = ProtobufWriter()
        // Without reserved capacity the buffer would grow, each time leaving a copy of the keys behind.
        writer.reserveCapacity(64 + keys.count * 512)
        writer.varint(1, UInt64(primaryID))
        for key in keys {
            var value = KeyCoding.value(of: key)
            defer { Zeroing.overwrite(&value) }
            writer.message(2) { writer in
                writer.message(1) { data in
                    data.string(1, KeyCoding.typeURL(of: key.algorithm))
                    data.data(2, value)
                    data.varint(3, KeyCoding.materialType(of: key.algorithm).number)
                }
                writer.varint(2, key.status.number)
                writer.varint(3, UInt64(key.id))
                writer.varint(4, key.prefix.number)
            }
        }
        return writer.bytes
    }

    static let damaged = SecurityError(.invalidKey, "the bytes are not a keyset, or are damaged")

    private static func read(
        _ bytes: ArraySlice<UInt8>,
        into parts: inout KeysetParts
    ) throws(SecurityError) {
        var id: UInt32 = 0
        var status: KeysetKey.Status?
        var prefix: KeysetKey.Prefix?
        var content: (type: String, value: ArraySlice<UInt8>) = ("", [])
        var reader = ProtobufReader(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .data(let data)): content = try keyData(data)
            case (2, .varint(let number)): status = KeysetKey.Status(number: number)
            case (3, .varint(let number)): id = UInt32(truncatingIfNeeded: number)
            case (4, .varint(let number)): prefix = KeysetKey.Prefix(number: number)
            default: break
            }
        }
        guard !reader.isDamaged else { throw damaged }
        try parts.add(id, content.type, content.value, status, prefix)
    }

    private static func keyData(
        _ bytes: ArraySlice<UInt8>
    ) throws(SecurityError) -> (String, ArraySlice<UInt8>) {
        var type = ""
        var content: ArraySlice<UInt8> = []
        var reader = ProtobufReader(bytes)
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .data(let data)): type = String(decoding: data, as: UTF8.self)
            case (2, .data(let data)): content = data
            default: break
            }
        }
        guard !reader.isDamaged else { throw damaged }
        return (type, content)
    }
}

protocol TinkNamed: Equatable {
    static var all: [(Self, UInt64, String)] { get }
}

extension TinkNamed {
    init?(number: UInt64) {
        guard let found = Self.all.first(where: { $0.1 == number }) else { return nil }
        self = found.0
    }

    init?(name: String) {
        guard let found = Self.all.first(where: { $0.2 == name }) else { return nil }
        self = found.0
    }

    var number: UInt64 { Self.all.first { $0.0 == self }?.1 ?? 0 }
    var name: String { Self.all.first { $0.0 == self }?.2 ?? "" }
}

extension KeysetKey.Status: TinkNamed {
    static let all: [(Self, UInt64, String)] = [
        (.enabled, 1, "ENABLED"), (.disabled, 2, "DISABLED"), (.destroyed, 3, "DESTROYED"),
    ]
}

extension KeysetKey.Prefix: TinkNamed {
    /// For ciphers, Tink's “legacy” prefix equals “crunchy”.
    static let all: [(Self, UInt64, String)] = [
        (.tink, 1, "TINK"), (.raw, 3, "RAW"), (.crunchy, 4, "CRUNCHY"), (.crunchy, 2, "LEGACY"),
    ]
}
#endif
