package import Foundation
internal import HTTPTypes
package import KeelHTTP
internal import KeelToolSupport

/// Checks the health of a Keel server, and compares its clock with this machine's.
package struct ServerCheck: DoctorCheck {
    /// The clock difference in seconds beyond which there is a warning.
    static let patience: TimeInterval = 30

    private let address: URL
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(
        _ address: URL,
        over transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date = { Date.now }
    ) {
        self.address = address
        self.transport = transport
        self.now = now
    }

    package func findings() async -> [DoctorFinding] {
        let subject = "server \(Passwords.hidden(in: address.absoluteString))"
        var configuration = NetworkClient.Configuration(baseURL: address)
        configuration.timeout = .seconds(10)
        let client = NetworkClient(configuration, transport: transport)
        switch await client.response(to: Health()) {
        case .failure(let error):
            let described = ToolError(describing: error)
            let message = Passwords.hidden(in: described.message)
            return [.problem(subject, message, advice: described.advice)]
        case .success(let response):
            var findings = [Self.finding(subject, response)]
            if let skew = skew(to: response.head) { findings.append(skew) }
            return findings
        }
    }

    private static func finding(_ subject: String, _ response: NetworkResponse) -> DoctorFinding {
        let status = response.status.code
        switch status {
        case 200..<300: return .good(subject, "It responds.")
        case 401, 403:
            return .problem(
                subject,
                "It refuses the request (status \(status)).",
                advice: "Check the token, and whether the server accepts this host name."
            )
        case 404:
            return .problem(
                subject,
                "The server is not a Keel server (status 404).",
                advice: "Correct the URL; `keel serve` prints its own."
            )
        default:
            return .problem(
                subject,
                "It responds with status \(status).",
                advice: "Look at the server's log; its store may be missing or corrupt."
            )
        }
    }

    /// Compares the clocks by the server's `Date` field (RFC 9110, section 6.6.1).
    private func skew(to head: HTTPResponse) -> DoctorFinding? {
        guard let text = head.headerFields[.date], let date = Self.formatter.date(from: text) else {
            return nil
        }
        let difference = now().timeIntervalSince(date)
        guard abs(difference) > Self.patience else { return nil }
        let direction = difference > 0 ? "ahead of" : "behind"
        return .warning(
            "clock",
            "It is \(Int(abs(difference).rounded())) seconds \(direction) the server's.",
            advice: "Turn time synchronization on at both ends; signatures and tokens depend on it."
        )
    }

    /// The format of HTTP dates (RFC 9110, section 5.6.7).
    private static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter
    }

    private struct Health: ServiceEndpoint {
        var path: EndpointPath { "/health" }
        var method: HTTPRequest.Method { .get }
    }
}
