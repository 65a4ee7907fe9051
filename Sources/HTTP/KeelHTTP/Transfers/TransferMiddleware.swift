import HTTPTypes

/// The layer of each attempt that reports downloads to their observers.
///
/// It is above the layers that decompress bodies, so that an observer sees the caller's bytes.
struct TransferMiddleware: HTTPMiddleware, DeadlineEnforcing {
    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let observer = call.options.downloadObserver else { return try await next(call) }
        var reply = try await next(call)
        if reply.head.status.kind == .successful {
            reply.body = reply.body.observed(by: observer, total: total(of: reply))
        }
        return reply
    }

    /// Returns the size of the body; nil if it is unknown, or if a layer may decompress the body.
    private func total(of reply: HTTPReply) -> Int64? {
        reply.head.headerFields[.contentEncoding] == nil ? reply.announcedLength : nil
    }
}

extension HTTPCallOptions {
    private enum DownloadObserverKey: HTTPCallOptionKey {
        static var defaultValue: TransferObserver? { nil }
        static func sharingKey(of observer: TransferObserver?) -> AnyHashable? {
            // An observer needs the bytes of its own call.
            observer == nil ? 0 : nil
        }
    }

    package var downloadObserver: TransferObserver? {
        get { self[DownloadObserverKey.self] }
        set { self[DownloadObserverKey.self] = newValue }
    }

    private enum StallTimeoutKey: HTTPCallOptionKey {
        static var defaultValue: Duration? { nil }
    }

    /// The stall timeout of a long upload; see ``StallTimeoutMiddleware``.
    var stallTimeout: Duration? {
        get { self[StallTimeoutKey.self] }
        set { self[StallTimeoutKey.self] = newValue }
    }
}
