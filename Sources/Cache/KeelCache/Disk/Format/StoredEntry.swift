internal import KeelCore

/// A record to write, before a segment gives it position and sequence number.
struct PreparedRecord: Sendable {
    var header: RecordHeader
    var payload: [UInt8]
    var reference: LargeValueReference?
    var diskByteCount = 0
    /// The draft of that file, if no record has referred to it yet.
    var draft: LargeValueDraft?
}

struct StoredValue: Sendable {
    var bytes: [UInt8] = []
    var reference: LargeValueReference?
    var isFile = false
    var compression: UInt8 = 0
    /// The length of the value before compression.
    var plainByteCount = 0
}

struct LargeValueReference: Hashable, Sendable {
    var id: UInt64
    var byteCount: Int
    var plainByteCount: Int

    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: id)
        bytes.append(littleEndian: UInt64(byteCount))
        bytes.append(littleEndian: UInt64(plainByteCount))
    }

    init(id: UInt64, byteCount: Int, plainByteCount: Int) {
        self.id = id
        self.byteCount = byteCount
        self.plainByteCount = plainByteCount
    }

    init?(_ cursor: inout ByteCursor) {
        guard let id = cursor.number(UInt64.self),
            let byteCount = cursor.number(UInt64.self), byteCount < 1 << 48,
            let plainByteCount = cursor.number(UInt64.self), plainByteCount < 1 << 48
        else { return nil }
        self.init(id: id, byteCount: Int(byteCount), plainByteCount: Int(plainByteCount))
    }
}

struct StoredEntry: Sendable {
    let header: RecordHeader
    let tags: [String]
    /// The plain key, if the record is sealed.
    let key: [UInt8]?
    let value: StoredValue

    init?(_ header: RecordHeader, _ inner: UnsafeRawBufferPointer, isSealed: Bool) {
        var cursor = ByteCursor(inner)
        guard let tagCount = cursor.number(UInt16.self) else { return nil }
        var tags: [String] = []
        for _ in 0..<tagCount {
            guard let length = cursor.number(UInt16.self),
                let bytes = cursor.stretch(Int(length))
            else { return nil }
            tags.append(String(decoding: bytes, as: UTF8.self))
        }
        var key: [UInt8]?
        if isSealed {
            guard let length = cursor.number(UInt32.self),
                let bytes = cursor.stretch(Int(length))
            else { return nil }
            key = Array(bytes)
        }
        var value = StoredValue(compression: header.compression)
        value.isFile = header.flags.contains(.asFile)
        if header.flags.contains(.inFile) {
            guard let reference = LargeValueReference(&cursor), cursor.remaining == 0 else {
                return nil
            }
            value.reference = reference
            value.plainByteCount = reference.plainByteCount
        } else {
            if header.compression != 0 {
                guard let count = cursor.number(UInt32.self) else { return nil }
                value.plainByteCount = Int(count)
            }
            guard let bytes = cursor.stretch(cursor.remaining) else { return nil }
            value.bytes = Array(bytes)
            if header.compression == 0 { value.plainByteCount = value.bytes.count }
        }
        self.header = header
        self.key = key
        self.tags = tags
        self.value = value
    }

    func record(key: [UInt8], body: CacheBody) -> CacheRecord {
        let flags = header.flags
        return CacheRecord(
            key: key,
            body: body,
            created: CacheInstant(microseconds: header.created),
            staleAfter: flags.contains(.hasStaleAfter)
                ? CacheInstant(microseconds: header.staleAfter) : nil,
            expires: flags.contains(.hasExpires)
                ? CacheInstant(microseconds: header.expires) : nil,
            tags: tags
        )
    }
}
