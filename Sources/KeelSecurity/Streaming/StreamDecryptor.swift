#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Decrypts one stream that is given in pieces; keeps about one segment of it.
///
/// Every byte that it returns has been authenticated. That the stream is whole is known only when
/// ``finish()`` has returned: act on the result after that, and give it up when a call throws.
public struct StreamDecryptor: Sendable {
    private enum Phase {
        /// The keys that the stream may have been made with.
        case beginning([KeysetKey])
        case reading(SegmentCipher)
        case ended
        case failed
    }

    private var phase: Phase
    private let associatedData: Data
    /// What came in and is not decrypted; `start` is where that begins.
    private var waiting = Data()
    private var start = 0
    private var index = 0

    init(_ keys: [KeysetKey], associatedData: Data) {
        phase = .beginning(keys)
        self.associatedData = associatedData
    }

    /// Takes the next piece of the encrypted stream.
    ///
    /// - Parameter piece: Bytes, of any number.
    /// - Returns: The next plain bytes, often none.
    /// - Throws: `decryptionFailed`; the stream cannot be continued then.
    public mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        waiting.append(piece)
        return try plain(isEnd: false)
    }

    /// Ends the stream, and makes sure that nothing of it is missing.
    ///
    /// - Returns: The last plain bytes.
    /// - Throws: `decryptionFailed` if the stream is cut off or damaged.
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
            throw SecurityError(.invalidArgument, "the stream has been finished")
        case .reading(let cipher):
            return try segments(cipher, isEnd: isEnd)
        case .beginning(let keys):
            // The first segment tells the key; the longest that it can be has to be there.
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
        // As with encryption: a segment is the last one if nothing follows.
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
