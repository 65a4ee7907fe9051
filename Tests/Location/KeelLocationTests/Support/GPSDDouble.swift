#if canImport(Glibc)
import Foundation
import KeelCore
import KeelLocation
import Synchronization

/// A double of gpsd, limited to what the adapter uses.
final class GPSDDouble: Sendable {
    /// The behavior of a double.
    struct Manner: Sendable {
        var protocolMajor = 3
        var devices = ["/dev/ttyS7"]
        var greets = true
        var refusal: String?
        /// Whether version requests after the first are answered.
        var answers = true
    }

    private final class Watchers: Sendable {
        struct State {
            var watching: [ObjectIdentifier: LoopbackServer.Client] = [:]
            var requests: [String] = []
            var connectionCount = 0
        }

        let state = Mutex(State())
    }

    private let server: LoopbackServer
    private let watchers: Watchers

    init(_ manner: Manner = Manner()) throws {
        let watchers = Watchers()
        self.watchers = watchers
        server = try LoopbackServer(
            onConnect: { client in
                watchers.state.withLock { $0.connectionCount += 1 }
                if manner.greets { client.send(Self.version(manner)) }
            },
            onBytes: { client, bytes in
                Self.answer(client, String(decoding: bytes, as: UTF8.self), manner, watchers)
            },
            onEnd: { client in
                _ = watchers.state.withLock {
                    $0.watching.removeValue(forKey: ObjectIdentifier(client))
                }
            }
        )
    }

    private static func version(_ manner: Manner) -> String {
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":\#(manner.protocolMajor),"#
            + #""proto_minor":14}"# + "\r\n"
    }

    private static func answer(
        _ client: LoopbackServer.Client,
        _ request: String,
        _ manner: Manner,
        _ watchers: Watchers
    ) {
        watchers.state.withLock { $0.requests.append(request) }
        if request.hasPrefix("?VERSION"), manner.answers { client.send(version(manner)) }
        guard request.hasPrefix("?WATCH=") else { return }
        if let refusal = manner.refusal {
            client.send(#"{"class":"ERROR","message":"\#(refusal)"}"# + "\r\n")
            return
        }
        let devices = manner.devices.map { #"{"class":"DEVICE","path":"\#($0)"}"# }
        let list = #"{"class":"DEVICES","devices":[\#(devices.joined(separator: ","))]}"#
        // In one step: a client with the answer gets everything sent later, but nothing earlier.
        watchers.state.withLock { state in
            state.watching[ObjectIdentifier(client)] = client
            client.send(list + "\r\n" + #"{"class":"WATCH","enable":true,"json":true}"# + "\r\n")
        }
    }

    var port: UInt16 { server.port }

    /// The number of watching clients.
    var watcherCount: Int { watchers.state.withLock { $0.watching.count } }

    /// The number of connected clients, watching or not.
    var clientCount: Int { server.clientCount }

    /// The number of connections so far.
    var connectionCount: Int { watchers.state.withLock { $0.connectionCount } }

    /// The requests received, in order.
    var requests: [String] { watchers.state.withLock { $0.requests } }

    /// Creates an adapter that reconnects at once.
    func adapter(
        device: String? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> GPSDLocationAdapter {
        GPSDLocationAdapter(configuration(device: device), clock: clock)
    }

    func configuration(device: String? = nil) -> GPSDLocationAdapter.Configuration {
        GPSDLocationAdapter.Configuration(
            port: port,
            device: device,
            reconnection: RetryPolicy(baseDelay: .milliseconds(1), maximumDelay: .milliseconds(20))
        )
    }

    /// Sends a line to all watching clients.
    func send(_ line: String) {
        for client in watchers.state.withLock({ $0.watching.values }) { client.send(line + "\r\n") }
    }

    func send(_ fix: LocationFix, device: String? = "/dev/ttyS7") {
        send(Self.line(of: fix, device: device))
    }

    func sendNoFix() { send(#"{"class":"TPV","device":"/dev/ttyS7","mode":1}"#) }

    func stop() { server.stop() }

    func restart() throws { try server.restart() }

    static func line(of fix: LocationFix, device: String? = "/dev/ttyS7") -> String {
        let time = InternetTime.text(
            ofMicroseconds: Int64((fix.time.timeIntervalSince1970 * 1_000).rounded()) * 1_000
        )
        var fields = [
            #""class":"TPV""#, #""mode":\#(fix.altitude == nil ? 2 : 3)"#, #""time":"\#(time)""#,
            #""lat":\#(decimal(fix.coordinate.latitude))"#,
            #""lon":\#(decimal(fix.coordinate.longitude))"#,
        ]
        let values = [
            ("eph", fix.horizontalAccuracy), ("altMSL", fix.altitude),
            ("epv", fix.verticalAccuracy), ("speed", fix.speed), ("track", fix.course),
        ]
        for case (let name, let value?) in values { fields.append(#""\#(name)":\#(value)"#) }
        if let device { fields.append(#""device":"\#(device)""#) }
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// Nine digits, as gpsd writes them.
    private static func decimal(_ value: Double) -> String { String(format: "%.9f", value) }
}
#endif
