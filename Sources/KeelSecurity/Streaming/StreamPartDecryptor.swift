#if Crypto
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Decrypts a part of an encrypted stream whose segments are given in pieces.
///
/// Every byte that it returns has been authenticated, and stood at this place of the stream. Where
/// the part is not the last one, the stream may have been cut off behind it.
package struct StreamPartDecryptor: Sendable {
    /// Which bytes of the encrypted stream to give to ``update(_:)``, in order.
    package let sealedRange: Range<Int>

    private let layout: SegmentLayout
    private let range: Range<Int>
    private let lastIndex: Int
    /// Those of the keys that the stream may have been made with; one from the first segment on.
    private var ciphers: [SegmentCipher]
    private var index: Int
    private var waiting = Data()

    /// Begins with the ciphers of the keys that fit the stream's header.
    ///
    /// - Parameters:
    ///   - ciphers: The ciphers, all of one layout.
    ///   - layout: Where the segments are.
    ///   - range: Which plain bytes; at least one.
    ///   - size: The size of the encrypted stream.
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

    /// Takes the next piece of ``sealedRange``.
    ///
    /// - Parameter piece: Bytes, of any number.
    /// - Returns: The next plain bytes of the part, often none.
    /// - Throws: `decryptionFailed`.
    package mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        waiting.append(piece)
        return try plain(isEnd: false)
    }

    /// Ends the part.
    ///
    /// - Returns: The last plain bytes.
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
            // The last one is shorter than others, and told by the end of the part.
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
    /// How long the beginning of an encrypted stream is that ``part(_:of:header:associatedData:)``
    /// asks for.
    package var headerCount: Int? { layout?.headerCount }

    /// How many bytes an encrypted stream has.
    ///
    /// - Parameter count: How many bytes are encrypted.
    /// - Returns: The size; nil where the enabled keys were of several algorithms.
    package func encryptedCount(of count: Int) -> Int? { layout?.encryptedCount(of: count) }

    /// How many bytes were encrypted.
    ///
    /// - Parameter size: The size of the encrypted stream.
    /// - Returns: Their number; nil where no stream has this size, or the enabled keys are of
    ///   several algorithms.
    package func plainCount(ofEncrypted size: Int) -> Int? { layout?.plainCount(size: size) }

    /// Begins to decrypt a part of an encrypted stream.
    ///
    /// - Parameters:
    ///   - range: Which plain bytes; at least one, and none behind the end.
    ///   - size: The size of the encrypted stream.
    ///   - header: The first ``headerCount`` bytes of it.
    ///   - associatedData: The bytes that were given when it was encrypted.
    /// - Returns: What takes the pieces of the encrypted part.
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

    /// Whether the sizes of a stream are those that ``encryptedCount(of:)`` tells.
    package func hasKnownSizes(_ encryptor: StreamEncryptor) -> Bool {
        encryptor.cipher.layout == layout
    }
}
#endif
