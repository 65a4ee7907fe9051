#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Random access to the plaintext of an encrypted stream.
///
/// A read fetches and authenticates only the segments that hold the requested range. Opening checks the last segment,
/// and so refuses a truncated stream.
public struct SeekableDecryption: Sendable {
    /// The size of the plaintext in bytes.
    public let count: Int

    private let cipher: SegmentCipher
    private let size: Int
    private let fetch: @Sendable (Range<Int>) throws -> Data

    init(
        _ keys: [KeysetKey],
        size: Int,
        associatedData: Data,
        fetch: @escaping @Sendable (Range<Int>) throws -> Data
    ) throws(SecurityError) {
        let header = try Self.bytes(0..<min(size, 256), fetch)
        for key in keys {
            guard
                let cipher = SegmentCipher(key, header: header, associatedData: associatedData),
                let count = cipher.layout.plainCount(size: size)
            else { continue }
            let index = cipher.layout.segmentCount(size: size) - 1
            let place = cipher.layout.place(of: index, size: size)
            let last = try Self.bytes(place, fetch)
            guard cipher.open(last, index: index, isLast: true) != nil else { continue }
            self.cipher = cipher
            self.size = size
            self.count = count
            self.fetch = fetch
            return
        }
        throw StreamingEncryption.refusal
    }

    /// Returns a range of the plaintext.
    ///
    /// - Parameter range: The range, within `0..<count`.
    /// - Returns: The bytes.
    /// - Throws: `invalidArgument` for a range beyond the end, `streamFailed` if the bytes cannot be fetched, or
    ///   `decryptionFailed` if they were changed.
    public func read(_ range: Range<Int>) throws(SecurityError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= count else {
            throw SecurityError(.invalidArgument, "the range exceeds the \(count) bytes")
        }
        guard !range.isEmpty else { return Data() }
        let layout = cipher.layout
        let first = layout.segment(holding: range.lowerBound)
        let last = layout.segment(holding: range.upperBound - 1)
        var output = Data(capacity: range.count)
        for index in first...last {
            let place = layout.place(of: index, size: size)
            let isLast = index == layout.segmentCount(size: size) - 1
            let sealed = try Self.bytes(place, fetch)
            guard let plain = cipher.open(sealed, index: index, isLast: isLast) else {
                throw StreamingEncryption.refusal
            }
            let begin = layout.plainStart(of: index)
            let wanted = range.clamped(to: begin..<begin + plain.count)
            output.append(
                plain.dropFirst(wanted.lowerBound - begin).prefix(wanted.count)
            )
        }
        return output
    }

    private static func bytes(
        _ range: Range<Int>,
        _ fetch: (Range<Int>) throws -> Data
    ) throws(SecurityError) -> Data {
        let data: Data
        do {
            data = try fetch(range)
        } catch {
            throw SecurityError(.streamFailed, "the stream could not be read", cause: error)
        }
        guard data.count == range.count else {
            throw SecurityError(.streamFailed, "the stream is shorter than its declared size")
        }
        return data
    }
}

/// A decryptor for a part of an encrypted stream that arrives in pieces.
///
/// Every returned byte is authenticated, including its position in the stream. Truncation after the part is not
/// detected.
package struct StreamPartDecryptor: Sendable {
    /// The range of encrypted bytes to pass to ``update(_:)``, in order.
    package let sealedRange: Range<Int>

    private let layout: SegmentLayout
    private let range: Range<Int>
    private let lastIndex: Int
    /// The ciphers that may fit the stream; only the matching one after the first segment.
    private var ciphers: [SegmentCipher]
    private var index: Int
    private var waiting = Data()

    /// Creates a decryptor of a plaintext range, which is not empty, with the ciphers that fit the header of a stream
    /// of this size.
    init(_ ciphers: [SegmentCipher], _ layout: SegmentLayout, range: Range<Int>, size: Int) {
        self.ciphers = ciphers
        self.layout = layout
        self.range = range
        lastIndex = layout.segmentCount(size: size) - 1
        index = layout.segment(holding: range.lowerBound)
        let first = layout.place(of: index, size: size)
        let last = layout.place(of: layout.segment(holding: range.upperBound - 1), size: size)
        sealedRange = first.lowerBound..<last.upperBound
    }

    /// Decrypts the next piece of ``sealedRange``.
    ///
    /// - Parameter piece: The next bytes, in any number.
    /// - Returns: The next plaintext bytes of the part, often none.
    /// - Throws: `decryptionFailed`.
    package mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        waiting.append(piece)
        return try plain(isEnd: false)
    }

    /// Ends the part, and returns its last plaintext bytes.
    ///
    /// - Throws: `decryptionFailed` if bytes of ``sealedRange`` are missing.
    package mutating func finish() throws(SecurityError) -> Data {
        let output = try plain(isEnd: true)
        guard waiting.isEmpty, index > layout.segment(holding: range.upperBound - 1) else {
            throw StreamingEncryption.refusal
        }
        return output
    }

    private mutating func plain(isEnd: Bool) throws(SecurityError) -> Data {
        var output = Data()
        var rest = waiting[...]
        while !rest.isEmpty {
            let size = layout.segment - (index == 0 ? layout.headerCount : 0)
            let isLast = index == lastIndex
            // The last segment may be shorter, and is complete at the end of the part.
            guard rest.count >= size || isEnd else { break }
            let sealed = rest.prefix(size)
            let segment = try open(sealed, isLast: isLast)
            let begin = layout.plainStart(of: index)
            let wanted = range.clamped(to: begin..<begin + segment.count)
            output.append(segment.dropFirst(wanted.lowerBound - begin).prefix(wanted.count))
            rest = rest.dropFirst(size)
            index += 1
        }
        waiting = Data(rest)
        return output
    }

    private mutating func open(_ sealed: Data, isLast: Bool) throws(SecurityError) -> Data {
        for cipher in ciphers {
            guard let plain = cipher.open(sealed, index: index, isLast: isLast) else { continue }
            ciphers = [cipher]
            return plain
        }
        throw StreamingEncryption.refusal
    }
}

extension StreamingEncryption {
    /// The size of the header that ``part(_:of:header:associatedData:)`` needs, or nil if the enabled keys differ in
    /// layout.
    package var headerCount: Int? { layout?.headerCount }

    /// Returns the size of an encrypted stream with `count` bytes of plaintext, or nil if the enabled keys differ in
    /// layout.
    package func encryptedCount(of count: Int) -> Int? { layout?.encryptedCount(of: count) }

    /// Returns the size of the plaintext of an encrypted stream.
    ///
    /// The result is nil if no stream has this size or the enabled keys differ in layout.
    package func plainCount(ofEncrypted size: Int) -> Int? { layout?.plainCount(size: size) }

    /// Begins to decrypt a part of an encrypted stream.
    ///
    /// - Parameters:
    ///   - range: The plaintext range; not empty, and not beyond the end.
    ///   - size: The size of the encrypted stream.
    ///   - header: Its first ``headerCount`` bytes.
    ///   - associatedData: The associated data of its encryption.
    /// - Returns: A decryptor for the part.
    /// - Throws: `decryptionFailed` if no key fits.
    package func part(
        _ range: Range<Int>,
        of size: Int,
        header: Data,
        associatedData: Data
    ) throws(SecurityError) -> StreamPartDecryptor {
        let ciphers = keys.compactMap {
            SegmentCipher($0, header: header, associatedData: associatedData)
        }
        guard let layout = ciphers.first?.layout else { throw Self.refusal }
        return StreamPartDecryptor(ciphers, layout, range: range, size: size)
    }

    /// Returns whether ``encryptedCount(of:)`` predicts the size of an encryptor's stream.
    package func hasKnownSizes(_ encryptor: StreamEncryptor) -> Bool {
        encryptor.cipher.layout == layout
    }
}
#endif
