internal import KeelCore

/// The conversion between entries and the bytes of records: hashing, sealing and compression.
struct RecordCodec: Sendable {
    static let longestKey = 65_535

    let hash: SipHash24
    let sealing: (any ByteSealing)?
    let compression: CacheCompression?

    /// Returns the key as stored: unchanged, or as a keyed hash if entries are sealed.
    func storedKey(_ key: [UInt8]) throws(CacheError) -> [UInt8] {
        guard let sealing else { return key }
        do {
            return try sealing.fingerprint(key, context: Self.keyContext)
        } catch {
            throw .sealing("a key could not be hashed", error)
        }
    }

    func storedTag(_ tag: String) throws(CacheError) -> [UInt8] {
        guard let sealing else { return Array(tag.utf8) }
        do {
            return try sealing.fingerprint(Array(tag.utf8), context: Self.tagContext)
        } catch {
            throw .sealing("a tag could not be hashed", error)
        }
    }

    // MARK: Writing

    /// Makes a record of an entry whose value has its final form; ignores the entry's body.
    func prepare(
        _ record: CacheRecord,
        _ storedKey: [UInt8],
        _ value: StoredValue
    ) throws(CacheError) -> PreparedRecord {
        var header = RecordHeader(kind: .entry)
        header.hash = hash.hash(storedKey)
        header.created = record.created.microseconds
        if let staleAfter = record.staleAfter {
            header.flags.insert(.hasStaleAfter)
            header.staleAfter = staleAfter.microseconds
        }
        if let expires = record.expires {
            header.flags.insert(.hasExpires)
            header.expires = expires.microseconds
        }
        if sealing != nil { header.flags.insert(.sealed) }
        header.compression = value.compression
        if value.reference != nil { header.flags.insert(.inFile) }
        if value.isFile { header.flags.insert(.asFile) }

        var inner = try Self.tagBytes(record.tags)
        if sealing != nil {
            inner.append(littleEndian: UInt32(record.key.count))
            inner += record.key
        }
        if let reference = value.reference {
            reference.append(to: &inner)
        } else {
            if value.compression != 0 { inner.append(littleEndian: UInt32(value.plainByteCount)) }
            inner += value.bytes
        }
        header.keyByteCount = storedKey.count
        if let sealing {
            do {
                inner = try sealing.seal(inner, context: Self.context(header, storedKey))
            } catch {
                throw .sealing("an entry could not be sealed", error)
            }
        }
        let payload = storedKey + inner
        header.payloadByteCount = payload.count
        header.payloadChecksum = XXHash64.hash(payload)
        return PreparedRecord(header: header, payload: payload, reference: value.reference)
    }

    private static func tagBytes(_ tags: [String]) throws(CacheError) -> [UInt8] {
        var bytes: [UInt8] = []
        let count = tags.reduce(0) { $0 + $1.utf8.count }
        guard tags.count <= 65_535, count <= longestKey else {
            throw CacheError(.invalidArgument, "an entry has more than 65,535 bytes of tags")
        }
        bytes.append(littleEndian: UInt16(tags.count))
        for tag in tags {
            bytes.append(littleEndian: UInt16(tag.utf8.count))
            bytes += tag.utf8
        }
        return bytes
    }

    // MARK: Reading

    enum Reading {
        case entry(StoredEntry)
        /// An intact record of another key with the same hash.
        case otherKey
        /// A damaged record, or one sealed with another key.
        case damaged
    }

    func read(_ bytes: [UInt8], seed: UInt64, storedKey: [UInt8]?) -> Reading {
        bytes.withUnsafeBytes { bytes in
            guard let header = RecordHeader(bytes, seed: seed) else { return .damaged }
            let payload = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.byteCount...])
            guard header.isIntact(payload) else { return .damaged }
            return read(header, payload, storedKey: storedKey)
        }
    }

    /// Reads a record whose checksums were verified; a nil `storedKey` accepts any key.
    func read(
        _ header: RecordHeader,
        _ payload: UnsafeRawBufferPointer,
        storedKey: [UInt8]?
    ) -> Reading {
        guard header.kind == .entry, header.flags.contains(.sealed) == (sealing != nil) else {
            return .damaged
        }
        let stored = UnsafeRawBufferPointer(rebasing: payload[..<header.keyByteCount])
        if let storedKey, !Self.areEqual(stored, storedKey) { return .otherKey }
        let inner = UnsafeRawBufferPointer(rebasing: payload[header.keyByteCount...])
        guard let sealing else {
            return StoredEntry(header, inner, isSealed: false).map { .entry($0) } ?? .damaged
        }
        let context = Self.context(header, Array(stored))
        guard let opened = try? sealing.open(Array(inner), context: context) else {
            return .damaged
        }
        return opened.withUnsafeBytes { opened in
            StoredEntry(header, opened, isSealed: true).map { .entry($0) } ?? .damaged
        }
    }

    private static func areEqual(_ stored: UnsafeRawBufferPointer, _ key: [UInt8]) -> Bool {
        guard stored.count == key.count else { return false }
        return key.withUnsafeBytes { $0.elementsEqual(stored) }
    }

    private static let keyContext = Array("keel.cache.key".utf8)
    private static let tagContext = Array("keel.cache.tag".utf8)

    /// Returns the data a sealed record is bound to: its key, its times and the form of its value.
    ///
    /// Not its position, because it may be moved.
    private static func context(_ header: RecordHeader, _ storedKey: [UInt8]) -> [UInt8] {
        var context = Array("keel.cache.record".utf8) + storedKey
        context.append(header.flags.rawValue)
        context.append(header.compression)
        context.append(littleEndian: header.created)
        context.append(littleEndian: header.staleAfter)
        context.append(littleEndian: header.expires)
        return context
    }
}

extension CacheError {
    static func sealing(_ message: String, _ cause: any Error) -> CacheError {
        CacheError(.sealingFailed, message, cause: cause)
    }
}
