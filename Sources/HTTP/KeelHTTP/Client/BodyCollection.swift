package import HTTPTypes
import KeelCore

/// How a response body is read into memory.
///
/// The retrying layer reads the body, within the attempt, so that a body that breaks off can be retried.
package struct BodyCollection: Sendable, Hashable {
    /// The maximum size of the body, in bytes.
    package var limit: Int

    /// The number of bytes kept when the status is not 2xx; nil applies `limit` to every status.
    package var errorBodyLimit: Int?

    package init(limit: Int, errorBodyLimit: Int? = nil) {
        self.limit = limit
        self.errorBodyLimit = errorBodyLimit
    }

    package func bytes(
        of reply: HTTPReply,
        to method: HTTPRequest.Method
    ) async throws(TransportError) -> [UInt8] {
        try await content(of: reply, to: method).bytes
    }

    private func content(
        of reply: HTTPReply,
        to method: HTTPRequest.Method
    ) async throws(TransportError) -> (bytes: [UInt8], isWhole: Bool) {
        if let errorBodyLimit, reply.head.status.kind != .successful {
            if let bytes = reply.body.collected, bytes.count <= errorBodyLimit {
                return (bytes, true)
            }
            let (bytes, isWhole) = try await reply.body.readPrefix(errorBodyLimit)
            return (bytes, isWhole || reply.announcedLength == Int64(bytes.count))
        }
        if let bytes = reply.body.collected, bytes.count <= limit { return (bytes, true) }
        // The response to HEAD announces the length of a body that is never sent.
        if method != .head, let length = reply.announcedLength, length > limit {
            throw TransportError.responseTooLarge(limit: limit)
        }
        let bytes = try await reply.body.collect(upTo: limit)
        // Many sequences simply end when their reader is canceled; only the announced length tells that from the end of
        // the body.
        guard !Task.isCancelled || reply.announcedLength == Int64(bytes.count) else {
            throw TransportError(.cancelled, phase: .readBody)
        }
        return (bytes, true)
    }

    /// Returns the reply with its body in memory, except for a redirect, which keeps its stream.
    package func collected(
        _ reply: HTTPReply,
        to method: HTTPRequest.Method
    ) async throws(TransportError) -> HTTPReply {
        guard reply.head.status.kind != .redirection else { return reply }
        let (bytes, isWhole) = try await content(of: reply, to: method)
        if reply.body.collected?.count == bytes.count { return reply }
        var collected = reply
        collected.body = .collected(bytes, trailers: reply.body.trailers)
        if !isWhole { collected.notes.isTruncated = true }
        return collected
    }
}

extension HTTPReplyNotes {
    private enum TruncationKey: HTTPReplyNoteKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the body in memory is only the beginning of the server's.
    package internal(set) var isTruncated: Bool {
        get { self[TruncationKey.self] }
        set { self[TruncationKey.self] = newValue }
    }
}

extension HTTPReply {
    /// Reads and discards a body of up to 8 KiB, for at most 250 ms, so that the connection can serve the next request.
    ///
    /// A longer or slower body is dropped. The caller must release the reply afterward, which holds the exchange's
    /// place under a concurrency limit.
    func drain(on timer: DeadlineTimer) async {
        guard (0...8192).contains(announcedLength ?? 0) else { return }
        let body = body
        _ = await timer.run(until: timer.now + .milliseconds(250)) {
            // One byte beyond the limit, because only reaching the end of the body frees the connection.
            _ = try? await body.collectPrefix(8193)
        }
    }

    /// Returns the reply with its body in memory, detached from its exchange.
    ///
    /// For a reply that may be the final one while another request is made, which could otherwise wait for the reply's
    /// place under a concurrency limit. Bytes beyond `limit` are dropped; the body then ends with an error, as does a
    /// body that cannot be read to its end.
    ///
    /// - Throws: ``TransportError/Code/cancelled`` or ``TransportError/Code/deadlineExceeded``.
    package func detached(upTo limit: Int = 64 * 1024) async throws(TransportError) -> HTTPReply {
        var detached = self
        var bytes: [UInt8] = []
        do throws(TransportError) {
            var pieces = body.makeAsyncIterator()
            while bytes.count <= limit, let piece = try await pieces.next() { bytes += piece }
            guard bytes.count <= limit else { throw TransportError.responseTooLarge(limit: limit) }
            detached.body = .collected(bytes, trailers: body.trailers)
        } catch {
            guard error.code != .cancelled, error.code != .deadlineExceeded else { throw error }
            detached.body = .chunks([Array(bytes.prefix(limit))], thenThrow: error)
        }
        return detached
    }
}
