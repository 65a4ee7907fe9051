#if TestServer
import KeelTestKit
import NIOCore
import NIOPosix

/// A connection to a test proxy.
struct ProxySession: Sendable {
    private let client: RawConnection
    private let configuration: TestProxy.Configuration

    init(_ client: RawConnection, _ configuration: TestProxy.Configuration) {
        self.client = client
        self.configuration = configuration
    }

    func serve() async throws {
        guard let first = try await client.read() else { return }
        if first.first == 5 {
            try await serveSOCKS(first)
        } else {
            try await serveHTTP(first)
        }
    }

    private func fail(_ fault: TestProxy.Fault, refusal: [UInt8], unreachable: [UInt8]) async throws
    {
        switch fault {
        case .refuses: try await client.write(refusal)
        case .unreachable: try await client.write(unreachable)
        case .garbage: try await client.write("\u{1}\u{2} neither HTTP nor SOCKS\r\n\r\n")
        case .stall: await client.stall()
        case .close: break
        }
    }

    // MARK: HTTP

    private func serveHTTP(_ first: [UInt8]) async throws {
        var bytes = first
        while let (head, end) = try await readHead(&bytes) {
            client.note(head)
            if let credentials = configuration.credentials,
                head["proxy-authorization"] != credentials.basic
            {
                try await client.write(
                    "HTTP/1.1 407 Proxy Authentication Required\r\n"
                        + "Proxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\n\r\n"
                )
                bytes.removeFirst(end)
                continue
            }
            if let fault = configuration.fault {
                return try await fail(
                    fault,
                    refusal: Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8),
                    unreachable: Array(
                        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8
                    )
                )
            }
            return try await forward(head, bytes, end)
        }
    }

    private func forward(_ head: HTTPTestRequest, _ bytes: [UInt8], _ end: Int) async throws {
        if head.method == "CONNECT" {
            return try await relay(
                to: head.target,
                greeting: Array("HTTP/1.1 200 Connection Established\r\n\r\n".utf8),
                sending: Array(bytes.dropFirst(end)),
                failure: Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
            )
        }
        // For an absolute target, the server gets the path, without the fields for the proxy.
        let parts = head.target.split(
            separator: "/",
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        let place = parts.count == 3 ? parts[2] : Substring(head["host"] ?? "")
        let slash = place.firstIndex(of: "/") ?? place.endIndex
        let path = slash == place.endIndex ? "/" : String(place[slash...])
        var text = "\(head.method) \(path) \(head.version)\r\n"
        for field in head.fields where !field.name.lowercased().hasPrefix("proxy-") {
            text += "\(field.name): \(field.value)\r\n"
        }
        try await relay(
            to: String(place[..<slash]),
            greeting: [],
            sending: Array((text + "\r\n").utf8) + bytes.dropFirst(end),
            failure: Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
        )
    }

    private func readHead(_ bytes: inout [UInt8]) async throws -> (HTTPTestRequest, Int)? {
        while true {
            if let end = HTTP1RequestParser.end(of: bytes[...]) {
                var parser = HTTP1RequestParser()
                parser.append(bytes[..<end])
                guard case .head(let head)? = parser.next() else { return nil }
                return (head, end)
            }
            guard let more = try await client.read() else { return nil }
            bytes += more
        }
    }

    // MARK: SOCKS5

    /// Serves SOCKS5 (RFC 1928), with username and password (RFC 1929) if required.
    private func serveSOCKS(_ first: [UInt8]) async throws {
        var bytes = first
        func take(_ count: Int) async throws -> [UInt8]? {
            while bytes.count < count {
                guard let more = try await client.read() else { return nil }
                bytes += more
            }
            defer { bytes.removeFirst(count) }
            return Array(bytes.prefix(count))
        }
        guard let greeting = try await take(2), let methods = try await take(Int(greeting[1]))
        else { return }
        let demanded: UInt8 = configuration.credentials == nil ? 0 : 2
        guard methods.contains(demanded) else { return try await client.write([5, 0xff]) }
        try await client.write([5, demanded])
        if let credentials = configuration.credentials {
            guard let start = try await take(2), let name = try await take(Int(start[1])),
                let length = try await take(1), let password = try await take(Int(length[0]))
            else { return }
            let isRight =
                name == Array(credentials.name.utf8)
                && password == Array(credentials.password.utf8)
            try await client.write([1, isRight ? 0 : 1])
            guard isRight else { return }
        }
        guard let request = try await take(4) else { return }
        var host: String
        switch request[3] {
        case 1:
            guard let address = try await take(4) else { return }
            host = address.map(String.init).joined(separator: ".")
        case 3:
            guard let length = try await take(1), let name = try await take(Int(length[0]))
            else { return }
            host = String(decoding: name, as: UTF8.self)
        default:
            return try await client.write(Self.socksReply(8))
        }
        guard let port = try await take(2) else { return }
        host += ":\(Int(port[0]) << 8 | Int(port[1]))"
        client.note(HTTPTestRequest(method: "SOCKS", target: host, version: "SOCKS/5"))
        if let fault = configuration.fault {
            return try await fail(
                fault,
                refusal: Self.socksReply(2),
                unreachable: Self.socksReply(5)
            )
        }
        try await relay(
            to: host,
            greeting: Self.socksReply(0),
            sending: bytes,
            failure: Self.socksReply(5)
        )
    }

    private static func socksReply(_ code: UInt8) -> [UInt8] {
        [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
    }

    // MARK: Relaying

    /// Connects to a host and port, and relays bytes in both directions until one side ends.
    private func relay(
        to place: String,
        greeting: [UInt8],
        sending first: [UInt8],
        failure: [UInt8]
    ) async throws {
        let colon = place.lastIndex(of: ":")
        let named = colon.flatMap { Int(place[place.index(after: $0)...]) } ?? 80
        let host = colon.map { String(place[..<$0]) } ?? place
        let upstream: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            upstream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(
                    host: configuration.target == nil ? host : "127.0.0.1",
                    port: configuration.target ?? named
                ) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            return try await client.write(failure)
        }
        try await upstream.executeThenClose { inbound, outbound in
            try await client.write(greeting)
            if !first.isEmpty { try await outbound.write(ByteBuffer(bytes: first)) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let bytes = try? await client.read() {
                        guard (try? await outbound.write(ByteBuffer(bytes: bytes))) != nil else {
                            return
                        }
                    }
                }
                group.addTask {
                    do {
                        for try await chunk in inbound {
                            try await client.write(Array(chunk.readableBytesView))
                        }
                    } catch {
                        // One side is gone; the end of the relay notifies the other one.
                    }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
#endif
