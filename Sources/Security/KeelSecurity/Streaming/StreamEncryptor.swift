#if Crypto
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An encryptor for one stream that arrives in pieces, which buffers less than one segment.
///
/// Write the result of each call, in order. Decryption refuses a stream that was not ended with ``finish()``.
///
/// After an error, every call fails: start a new stream.
public final class StreamEncryptor: Sendable {
    private struct State {
        var waiting = Data()
        var index = 0
        var isFinished = false
    }

    let cipher: SegmentCipher
    private let state = Mutex(State())

    init(_ cipher: SegmentCipher) { self.cipher = cipher }

    /// Encrypts the next piece.
    ///
    /// - Parameter piece: The next bytes, in any number.
    /// - Returns: The next bytes of the encrypted stream, often none.
    /// - Throws: `encryptionFailed`, or `invalidArgument` after the end.
    public func update(_ piece: Data) throws(SecurityError) -> Data {
        try state.withLock { state throws(SecurityError) in
            try refuseAfterEnd(state)
            var output = Data()
            var rest = piece
            // A full segment is sealed only when more data follows, because the last one is sealed as such.
            while !rest.isEmpty {
                let room = cipher.layout.plainCount(of: state.index) - state.waiting.count
                if room == 0 {
                    try output.append(sealed(&state, isLast: false))
                    continue
                }
                state.waiting.append(rest.prefix(room))
                rest = rest.dropFirst(room)
            }
            return output
        }
    }

    /// Ends the stream.
    ///
    /// - Returns: The last bytes of the encrypted stream.
    /// - Throws: `encryptionFailed`, or `invalidArgument` after the end.
    public func finish() throws(SecurityError) -> Data {
        try state.withLock { state throws(SecurityError) in
            try refuseAfterEnd(state)
            state.isFinished = true
            return try sealed(&state, isLast: true)
        }
    }

    private func sealed(_ state: inout State, isLast: Bool) throws(SecurityError) -> Data {
        let segment: Data
        do throws(SecurityError) {
            segment = try cipher.seal(state.waiting, index: state.index, isLast: isLast)
        } catch {
            state.isFinished = true
            throw error
        }
        defer {
            state.index += 1
            state.waiting.removeAll(keepingCapacity: true)
        }
        return state.index == 0 ? cipher.header + segment : segment
    }

    private func refuseAfterEnd(_ state: State) throws(SecurityError) {
        guard !state.isFinished else {
            throw SecurityError(.invalidArgument, "the stream has already been finished")
        }
    }
}
#endif
