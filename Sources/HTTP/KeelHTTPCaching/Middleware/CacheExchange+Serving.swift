import HTTPTypes
import KeelCache
import KeelHTTP
import Synchronization

extension CacheExchange {
    func served(
        _ choice: CacheDecision.Choice,
        _ result: HTTPCacheResult,
        forwardStatus: Int? = nil
    ) async -> HTTPReply? {
        // A reply without a body needs no stored body.
        let isBodyless =
            call.head.method == .head
            || conditions.areMet(by: choice.response, now: store.clock.now)
        guard let body = isBodyless ? .bytes([]) : await readable(choice.response) else {
            return nil
        }
        var status = CacheStatus()
        if case .stale(let reason) = result, reason == .serverError || reason == .offline {
            status.forward = .stale
            status.forwardStatus = forwardStatus
            status.detail = reason == .offline ? "unreachable" : "error"
        } else {
            status.hit = true
        }
        return reply(choice.response, choice.directives, body, result, status)
    }

    /// Returns the body of a stored response, or nil if it is gone or damaged.
    ///
    /// A file to be collected in memory is read here, so that damage counts as a miss. Of a file to
    /// be streamed, only the first byte is tried.
    func readable(_ response: StoredResponse) async -> CacheBody? {
        guard let body = await store.body(of: response) else { return nil }
        guard case .file(let file) = body else { return body }
        do throws(CacheError) {
            let isWanted = call.collection.map { file.count <= $0.limit } ?? false
            if isWanted { return .bytes(try body.bytes()) }
            _ = try file.read(from: 0, upTo: 1)
            return body
        } catch {
            store.counts.add(\.tierFailures)
            await store.drop(response, at: key)
            return nil
        }
    }

    func reply(
        _ response: StoredResponse,
        _ directives: ResponseDirectives,
        _ body: CacheBody,
        _ result: HTTPCacheResult,
        _ status: CacheStatus
    ) -> HTTPReply {
        let freshness = Freshness(response, directives, at: store.clock.now, rules)
        var head = HTTPResponse(status: response.status, headerFields: response.fields)
        // Room for `Age` and `Cache-Status`, which would otherwise copy all fields a second time.
        head.headerFields.reserveCapacity(response.fields.count + 2)
        if result != .revalidated {
            // Named fields must not be used without revalidation (RFC 9111 section 5.2.2.4).
            for field in directives.noCache.fields {
                if let name = HTTPField.Name(field) { head.headerFields[name] = nil }
            }
        }
        if rules.dropsCookies { head.headerFields.removeCookies() }
        if result != .revalidated || freshness.age > 0 {
            head.headerFields[.age] = String(freshness.age)
        }
        var status = status
        status.timeToLive = freshness.remaining
        head.add(status, by: name)
        count(result)
        return observed(answer(response, head, body)).noting(result)
    }

    /// Reports the bytes to the download observer, which otherwise observes the layers below.
    private func observed(_ reply: HTTPReply) -> HTTPReply {
        guard let observer = call.options.downloadObserver,
            reply.head.status.kind == .successful
        else { return reply }
        var reply = reply
        reply.body = reply.body.observed(by: observer, total: reply.announcedLength)
        return reply
    }

    private func answer(
        _ response: StoredResponse,
        _ head: HTTPResponse,
        _ body: CacheBody
    ) -> HTTPReply {
        var head = head
        if conditions.isPresent, conditions.areMet(by: response, now: store.clock.now) {
            head.status = .notModified
            for name in Self.contentFields { head.headerFields[name] = nil }
            return HTTPReply(head: head)
        }
        guard call.head.method == .get else { return HTTPReply(head: head) }
        let range = question.fields[.range].flatMap(ByteRange.init)
        if let range, RequestConditions.permitRange(question.fields, of: response),
            let slice = response.slice(range)
        {
            head.status = .partialContent
            head.headerFields[.contentRange] = slice.contentRange
            head.headerFields[.contentLength] = String(slice.count)
            let bytes = stream(body, slice.offset..<(slice.offset + slice.count), response)
            return HTTPReply(head: head, body: bytes)
        }
        return HTTPReply(head: head, body: stream(body, 0..<body.count, response))
    }

    /// Fields that describe a body, which status 304 does not have (RFC 9110 section 15.4.5).
    private static let contentFields: [HTTPField.Name] = [
        .contentLength, .contentEncoding, .contentLanguage, .contentType, .contentRange,
    ]

    private func count(_ result: HTTPCacheResult) {
        switch result {
        case .fresh:
            store.counts.add(\.freshHits)
            call.record(.cached("fresh"))
        case .revalidated:
            store.counts.add(\.revalidatedHits)
            call.record(.cached("revalidated"))
        case .stale(let reason):
            store.counts.add(\.staleHits)
            call.record(.cached("stale, \(reason)"))
        case .network, .missing: break
        }
    }
}

extension HTTPFields {
    fileprivate mutating func removeCookies() {
        for name in HTTPField.Name.cookieSetting { self[name] = nil }
    }
}

extension HTTPReply {
    /// Adds the cookies that the origin set for this caller.
    mutating func addCookies(of reply: HTTPReply) {
        for name in HTTPField.Name.cookieSetting {
            for value in reply.head.headerFields[values: name] {
                head.headerFields.append(HTTPField(name: name, value: value))
            }
        }
    }
}

extension CacheExchange {
    private func stream(
        _ body: CacheBody,
        _ range: Range<Int>,
        _ response: StoredResponse
    ) -> HTTPByteStream {
        switch body {
        case .bytes(let bytes):
            let isWhole = range == bytes.indices
            return .collected(isWhole ? bytes : Array(bytes[range]))
        case .file(let file):
            let cursor = FileCursor(file, range)
            return HTTPByteStream { [store, key] () async throws(TransportError) in
                do throws(CacheError) {
                    return try cursor.next()
                } catch {
                    // The next caller gets the whole response from the origin.
                    store.counts.add(\.tierFailures)
                    await store.drop(response, at: key)
                    throw TransportError(
                        .truncatedBody,
                        "The stored body could not be read completely.",
                        phase: .readBody,
                        cause: error
                    )
                }
            }
        }
    }
}

/// A reader of part of a stored file, in pieces; used by one task at a time.
final class FileCursor: Sendable {
    private static let pieceSize = 64 << 10

    private let file: any CacheFile
    private let rest: Mutex<Range<Int>>

    init(_ file: any CacheFile, _ range: Range<Int>) {
        self.file = file
        rest = Mutex(range)
    }

    func next() throws(CacheError) -> ArraySlice<UInt8>? {
        let wanted = rest.withLock { rest in
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            return piece
        }
        guard !wanted.isEmpty else { return nil }
        let bytes = try file.read(from: wanted.lowerBound, upTo: wanted.count)
        guard bytes.count == wanted.count else {
            throw CacheError(.decodingFailed, "The file was truncated.")
        }
        return bytes[...]
    }
}
