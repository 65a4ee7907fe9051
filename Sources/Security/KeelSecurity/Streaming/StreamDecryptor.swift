#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A decryptor for one stream that arrives in pieces, which buffers about one segment.
///
/// Every returned byte is authenticated. The stream is complete only when ``finish()`` returns: discard the result if a
/// call throws.
public struct StreamDecryptor: Sendable {
    private enum Phase {
        /// Holds the keys that may have encrypted the stream.
        case beginning([KeysetKey])
        case reading(SegmentCipher)
        case ended
        case failed
    }

    private var phase: Phase
    private let associatedData: Data
    /// The input that is not yet decrypted, from `start` on.
    private var waiting = Data()
    private var start = 0
    private var index = 0

    init(_ keys: [KeysetKey], associatedData: Data) {
        phase = .beginning(keys)
        self.associatedData = associatedData
    }

    /// Decrypts the next piece of the encrypted stream.
    ///
    /// - Parameter piece: The next bytes, in any number.
    /// - Returns: The next plaintext bytes, often none.
    /// - Throws: `decryptionFailed`, after which every call fails, or `invalidArgument` after the end.
    public mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        waiting.append(piece)
        return try plain(isEnd: false)
    }

    /// Ends the stream and verifies that it is complete.
    ///
    /// - Returns: The last plaintext bytes.
    /// - Throws: `decryptionFailed` if the stream is truncated or damaged, or `invalidArgument` after the end.
    public mutating func finish() throws(SecurityError) -> Data {
        let output = try plain(isEnd: true)
        phase = .ended
        waiting = Data()
        return output
    }

    private mutating func plain(isEnd: Bool) throws(SecurityError) -> Data {
        switch phase {
        case .failed:
            throw StreamingEncryption.refusal
        case .ended:
            throw SecurityError(.invalidArgument, "the stream has already been finished")
        case .reading(let cipher):
            return try segments(cipher, isEnd: isEnd)
        case .beginning(let keys):
            // The first segment identifies the key, so wait until the longest possible one has arrived.
            let layouts = keys.compactMap { SegmentLayout($0.algorithm) }
            guard isEnd || waiting.count > layouts.map(\.segment).max() ?? 0 else { return Data() }
            for key in keys {
                guard
                    let cipher = SegmentCipher(
                        key,
                        header: waiting,
                        associatedData: associatedData
                    ), isFirst(cipher)
                else { continue }
                phase = .reading(cipher)
                start = cipher.layout.headerCount
                return try segments(cipher, isEnd: isEnd)
            }
            phase = .failed
            throw StreamingEncryption.refusal
        }
    }

    private func isFirst(_ cipher: SegmentCipher) -> Bool {
        let segment = waiting.prefix(cipher.layout.segment).dropFirst(cipher.layout.headerCount)
        let isLast = waiting.count <= cipher.layout.segment
        return cipher.open(segment, index: 0, isLast: isLast) != nil
    }

    private mutating func segments(
        _ cipher: SegmentCipher,
        isEnd: Bool
    ) throws(SecurityError) -> Data {
        var output = Data()
        // As in encryption, a segment is the last one if nothing follows it.
        while true {
            let size = cipher.layout.segment - (index == 0 ? cipher.layout.headerCount : 0)
            let available = waiting.count - start
            guard available > size || isEnd else { break }
            let isLast = available <= size
            let sealed = waiting[start..<start + min(size, available)]
            guard let segment = cipher.open(sealed, index: index, isLast: isLast) else {
                phase = .failed
                waiting = Data()
                throw StreamingEncryption.refusal
            }
            output.append(segment)
            start += sealed.count
            index += 1
            if isLast { break }
        }
        waiting = waiting.dropFirst(start).isEmpty ? Data() : Data(waiting.dropFirst(start))
        start = 0
        return output
    }
}
#endif
