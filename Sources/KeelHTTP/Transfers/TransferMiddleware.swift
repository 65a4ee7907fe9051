import HTTPTypes

/// The layer of each attempt that shows downloads to their observers.
///
/// It stands above the layers that take a content coding off, so that an observer sees the bytes
/// that the caller gets, and below those that repeat a call, so that it sees each attempt.
struct TransferMiddleware: HTTPMiddleware, DeadlineKeeping {
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        var reply = try await next(call)
        if let observer = call.options.downloadObserver, reply.head.status.kind == .successful {
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
        static func sharingKey(of observer: TransferObserver?) -> AnyHashable? {
            // An observer wants the bytes of its own call.
            observer == nil ? 0 : nil
        }
    }

    /// Who looks at the body of the response.
    package var downloadObserver: TransferObserver? {
        get { self[DownloadObserverKey.self] }
        set { self[DownloadObserverKey.self] = newValue }
    }

    private enum SilenceKey: HTTPCallOptionKey {
        static var defaultValue: Duration? { nil }
    }

    /// How long nothing may move in an exchange whose request may take long; see
    /// ``SilenceMiddleware``.
    var silence: Duration? {
        get { self[SilenceKey.self] }
        set { self[SilenceKey.self] = newValue }
    }
}
