#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encrypts one stream that is given in pieces; keeps less than one segment of it.
///
/// Write what each call returns, in order. A stream without ``finish()`` is refused by its reader.
public struct StreamEncryptor: Sendable {
    private let cipher: SegmentCipher
    private var waiting = Data()
    private var index = 0
    private var isFinished = false

    init(_ cipher: SegmentCipher) { self.cipher = cipher }

    /// Takes the next piece.
    ///
    /// - Parameter piece: Bytes, of any number.
    /// - Returns: The next bytes of the encrypted stream, often none.
    /// - Throws: `encryptionFailed`, or `invalidArgument` after the end.
    public mutating func update(_ piece: Data) throws(SecurityError) -> Data {
        try refuseAfterEnd()
        var output = Data()
        var rest = piece
        // A segment is sealed only when more follows: the last one is sealed as the last.
        while !rest.isEmpty {
            let room = cipher.layout.plainCount(of: index) - waiting.count
            if room == 0 {
                try output.append(sealed(isLast: false))
                continue
            }
            waiting.append(rest.prefix(room))
            rest = rest.dropFirst(room)
        }
        return output
    }

    /// Ends the stream.
    ///
    /// - Returns: The last bytes of the encrypted stream.
    /// - Throws: `encryptionFailed`, or `invalidArgument` after the end.
    public mutating func finish() throws(SecurityError) -> Data {
        try refuseAfterEnd()
        isFinished = true
        return try sealed(isLast: true)
    }

    private mutating func sealed(isLast: Bool) throws(SecurityError) -> Data {
        let segment = try cipher.seal(waiting, index: index, isLast: isLast)
        defer {
            index += 1
            waiting.removeAll(keepingCapacity: true)
        }
        return index == 0 ? cipher.header + segment : segment
    }

    private func refuseAfterEnd() throws(SecurityError) {
        guard !isFinished else {
            throw SecurityError(.invalidArgument, "the stream has been finished")
        }
    }
}
#endif
