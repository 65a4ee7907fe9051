public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NetworkClient {
    /// Sends bytes as the body of an endpoint and returns its decoded response.
    ///
    /// They replace the endpoint's own body, and `POST` replaces the method `GET`. The content type is
    /// `application/octet-stream` unless the endpoint's headers set another.
    public func upload<E: Endpoint>(
        _ bytes: some Sequence<UInt8>,
        to endpoint: E,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> E.Response {
        let plan = RequestPlan(endpoint, timeout, options).uploading(.bytes(bytes), observer)
        return try await uploaded(plan, as: E.Response.self)
    }

    /// Sends a body, such as a file or a form with files, and returns the decoded response.
    ///
    /// ```swift
    /// let film = try await client.upload(.file(url, contentType: "video/mp4"), to: AddFilm())
    /// ```
    ///
    /// The body replaces the endpoint's own, and `POST` replaces the method `GET`. For a body that is produced while it
    /// is sent, the client's timeout limits the time without progress; see ``Configuration/timeout``.
    ///
    /// - Throws: ``NetworkError``; ``NetworkError/Code/file`` if a file cannot be read, or changes its length in the
    ///   meantime.
    public func upload<E: Endpoint>(
        _ body: RequestBody,
        to endpoint: E,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> E.Response {
        let plan = RequestPlan(endpoint, timeout, options).uploading(body, observer)
        return try await uploaded(plan, as: E.Response.self)
    }

    /// Sends a body and decodes the response as the given type.
    ///
    /// See the method for endpoints with a declared response.
    public func upload<Response: Decodable & Sendable>(
        _ body: RequestBody,
        to endpoint: some ServiceEndpoint,
        as type: Response.Type,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Response {
        let plan = RequestPlan(endpoint, timeout, options).uploading(body, observer)
        return try await uploaded(plan, as: type)
    }

    /// Calls an endpoint and returns the bytes of its response, up to ``Configuration/responseLimit``.
    ///
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299.
    public func download(
        from endpoint: some ServiceEndpoint,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> Data {
        var plan = RequestPlan(endpoint, timeout, options)
        plan.downloadObserver = observer
        return try await bytes(of: plan)
    }

    /// Calls an endpoint and writes its response to a file as it arrives.
    ///
    /// The file appears under its name, replacing any earlier one, once it is complete and on disk. Until then it has a
    /// temporary name that begins with `.keel-` in the same folder, which must exist. A call that fails or is canceled
    /// removes it; only the end of the process leaves it behind.
    ///
    /// The size is not limited; ``Configuration/idleTimeout`` limits the wait for the next bytes. The client's total
    /// time covers the time to the response head; a timeout of the endpoint or the call covers the whole response.
    ///
    /// - Returns: The head of the response.
    /// - Throws: ``NetworkError``, also for a status outside 200 to 299, whose body is not written;
    ///   ``NetworkError/Code/file`` if the file cannot be written.
    @discardableResult
    public func download(
        from endpoint: some ServiceEndpoint,
        to file: URL,
        observer: TransferObserver? = nil,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(NetworkError) -> HTTPResponse {
        var plan = RequestPlan(endpoint, timeout, options)
        plan.downloadObserver = observer
        return try await written(plan, file)
    }
}

extension NetworkClient {
    func uploaded<Value: Decodable & Sendable>(
        _ plan: RequestPlan,
        as type: Value.Type
    ) async throws(NetworkError) -> Value {
        defer { plan.uploadObserver?.finish() }
        return try await value(of: plan, as: type)
    }

    @concurrent
    func written(_ plan: RequestPlan, _ url: URL) async throws(NetworkError) -> HTTPResponse {
        defer { plan.downloadObserver?.finish() }
        let scope: StreamTimeoutScope = plan.timeout == nil ? .head : .wholeResponse
        let (call, reply) = try await opened(plan, scope, idle: configuration.idleTimeout)
        let file: PartialFile
        do throws(HTTPFileError) {
            file = try PartialFile(becoming: try HTTPFileError.localPath(of: url))
        } catch {
            throw NetworkError(.file, url: call.redactedURL, cause: error)
        }
        let failure = await Self.copy(reply.body, to: file, call)
        guard let failure else { return reply.head }
        await file.discard()
        throw failure
    }

    private static func copy(
        _ body: HTTPByteStream,
        to file: PartialFile,
        _ call: HTTPCall
    ) async -> NetworkError? {
        // A few large writes cost less than a thread switch for each chunk from the network.
        let blockSize = 256 * 1024
        var block: [UInt8] = []
        var pieces = body.makeAsyncIterator()
        var isAtEnd = false
        while !isAtEnd {
            do throws(TransportError) {
                if let piece = try await pieces.next() {
                    block.append(contentsOf: piece)
                } else {
                    isAtEnd = true
                }
            } catch {
                return NetworkError(error.located(in: call))
            }
            do throws(HTTPFileError) {
                if !block.isEmpty, isAtEnd || block.count >= blockSize {
                    try await file.append(block)
                    block.removeAll(keepingCapacity: true)
                }
                if isAtEnd { try await file.commit() }
            } catch {
                return NetworkError(.file, url: call.redactedURL, cause: error)
            }
        }
        return nil
    }
}
