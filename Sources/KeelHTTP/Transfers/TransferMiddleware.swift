import HTTPTypes

/// The layer of each attempt that shows downloads to their observers and ends silent uploads.
///
/// It stands above the layers that take a content coding off, so that an observer sees the bytes
/// that the caller gets, and below those that repeat a call, so that it sees each attempt.
struct TransferMiddleware: HTTPMiddleware, DeadlineKeeping {
    let clock: any Clock<Duration>

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let observer = call.options.downloadObserver
        let silence = call.options.silence
        guard observer != nil || silence != nil else { return try await next(call) }
        var reply: HTTPReply
        if let silence {
            reply = try await silence.guarding(clock) { () async throws(TransportError) in
                try await next(call)
            }
            reply.body = reply.body.mapReads { [clock] read async throws(TransportError) in
                try await silence.guarding(clock, read)
            }
        } else {
            reply = try await next(call)
        }
        if let observer, reply.head.status.kind == .successful {
            reply.body = reply.body.observed(by: observer, total: total(of: reply))
        }
        return reply
    }

    /// How many bytes the body has; nil if its length is not known, or is that of a coded form that
    /// may be taken off on the way.
    private func total(of reply: HTTPReply) -> Int64? {
        reply.head.headerFields[.contentEncoding] == nil ? reply.announcedLength : nil
    }
}

extension HTTPCallOptions {
    private enum DownloadObserverKey: HTTPCallOptionKey {
        static var defaultValue: TransferObserver? { nil }
    }

    /// Who looks at the body of the response.
    package var downloadObserver: TransferObserver? {
        get { self[DownloadObserverKey.self] }
        set { self[DownloadObserverKey.self] = newValue }
    }

    private enum SilenceKey: HTTPCallOptionKey {
        static var defaultValue: SilenceWatch? { nil }
    }

    /// What ends a long upload in which nothing happens.
    var silence: SilenceWatch? {
        get { self[SilenceKey.self] }
        set { self[SilenceKey.self] = newValue }
    }
}
