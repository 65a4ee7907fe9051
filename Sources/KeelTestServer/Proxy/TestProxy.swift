#if TestServer
import Foundation
public import KeelTestKit
import NIOCore
import NIOPosix

/// A real proxy on the loopback interface, for tests: HTTP (CONNECT and absolute targets) and
/// SOCKS5, with a password or faults where the test wants them.
///
/// ```swift
/// try await TestProxy.run { proxy in
///     let transport = try MyTransport(proxyPort: proxy.port)
///     // …
///     #expect(proxy.requests.map(\.method) == ["CONNECT"])
/// }
/// ```
public struct TestProxy: Sendable {
    /// What a proxy does in place of its work.
    public enum Fault: Sendable, Hashable, CaseIterable {
        /// It refuses every way with status 403, or SOCKS's "not allowed".
        case refuses
        /// It says that the server cannot be reached.
        case unreachable
        /// It answers with bytes that are neither HTTP nor SOCKS.
        case garbage
        /// It keeps silent until the client hangs up.
        case stall
        /// It closes the connection without an answer.
        case close
    }

    /// A name and a password.
    public struct Credentials: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The password.
        public var password: String

        /// Creates credentials.
        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }

        /// The value of the `Proxy-Authorization` field (RFC 7617).
        var basic: String {
            "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
        }
    }

    /// What a proxy demands, and what goes wrong with it.
    public struct Configuration: Sendable {
        /// The credentials that it demands; nil lets everybody in.
        public var credentials: Credentials?
        /// What it does in place of its work.
        public var fault: Fault?
        /// The only port of 127.0.0.1 that it connects to, whatever name it is asked for; nil goes
        /// where it is told.
        public var target: Int?

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - credentials: The credentials that the proxy demands.
        ///   - fault: What it does in place of its work.
        ///   - target: The only port of 127.0.0.1 that it connects to.
        public init(credentials: Credentials? = nil, fault: Fault? = nil, target: Int? = nil) {
            self.credentials = credentials
            self.fault = fault
            self.target = target
        }
    }

    private let server: FaultServer

    /// The port on 127.0.0.1.
    public var port: Int { server.port }

    /// The requests to the proxy itself, those without the right credentials among them.
    ///
    /// A SOCKS5 request has the method `SOCKS` and the host and port as its target.
    public var requests: [HTTPTestRequest] { server.requests }

    /// Runs a proxy for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - configuration: What the proxy demands, and what goes wrong with it.
    ///   - body: The test. When it returns or throws, every connection is cut.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or an error of the system where no port could be had.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        while body: (TestProxy) async throws -> Value
    ) async throws -> Value {
        let serve: @Sendable (RawConnection) async throws -> Void = { connection in
            try await ProxySession(connection, configuration).serve()
        }
        return try await FaultServer.run(serving: serve) { server in
            try await body(TestProxy(server: server))
        }
    }
}
#endif
