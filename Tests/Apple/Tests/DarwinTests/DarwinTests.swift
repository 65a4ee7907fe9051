import Darwin
import Foundation
import Keel
import KeelAnalytics
import KeelConformance
import KeelFiles
import KeelHTTP
import KeelSync
import KeelToolSupport
import Network
import Testing

@testable import KeelCore
@testable import KeelLocation

@Suite("Apple-specific code on stand-ins", .timeLimit(.minutes(5)))
struct DarwinTests {
    private func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-darwin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    // MARK: Files

    @Test("Files on disk are written, synchronized and read back")
    func diskFiles() async throws {
        try await withFolder { folder in
            let files = DiskFileSystem()
            try files.makeFolder(folder)
            let file = try files.open(folder + "/a", for: .creating)
            try file.write([1, 2, 3], at: 0)
            try file.sync()
            #expect(try file.read(at: 0, count: 3) == [1, 2, 3])
            let time = try #require(try file.modificationTime())
            #expect(time > 1_600_000_000_000_000)
            try files.rename(folder + "/a", to: folder + "/b")
            try files.syncFolder(folder)
            #expect(try files.names(in: folder) == ["b"])
        }
    }

    @Test(
        "The local file store keeps its promises",
        arguments: FileStoreCheck.applicable(to: features)
    )
    func localStore(_ check: FileStoreCheck) async throws {
        try await withFolder { folder in
            try await check.run(
                on: FileStoreSubject(features: Self.features) { name in
                    try LocalFileStoreAdapter(folder: folder + "/" + name)
                }
            )
        }
    }

    private static let features = FileStoreSubject.Features.complete

    // MARK: The machine

    @Test("The uptime names the boot, and its time advances")
    func uptime() throws {
        let uptime = try #require(Uptime.system)
        #expect(UUID(uuidString: uptime.boot) != nil)
        let first = uptime.elapsed()
        #expect(first > .zero)
        #expect(uptime.elapsed() >= first)
    }

    @Test("The context of events names the app and the device model")
    func analyticsContext() {
        let context = AnalyticsContext.current
        #expect(context.appName?.isEmpty == false)
        #expect(context.deviceModel?.isEmpty == false)
    }

    @Test("The open file limit is raised as far as the hard limit and the system allow")
    func openFiles() throws {
        let before = OpenFileLimit.current
        let raised = OpenFileLimit.raise()
        let soft = try #require(OpenFileLimit.current.soft)
        #expect(raised == Int(clamping: soft))
        let most = min(before.hard ?? .max, UInt64(OPEN_MAX))
        #expect(soft == max(before.soft ?? .max, most))
        #expect(OpenFileLimit.raise() == raised)
    }

    // MARK: The network

    @Test("The platform transport is URLSessionTransport")
    func platformTransport() async {
        let transport = NetworkClient.platformTransport()
        #expect(transport is URLSessionTransport)
        await transport.shutdown()
    }

    @Test("System errors of connections map to their codes")
    func systemErrors() {
        #expect(TransportError.Code(systemError: ECONNREFUSED, in: .connect) == .connectionRefused)
        #expect(TransportError.Code(systemError: ETIMEDOUT, in: .connect) == .connectTimeout)
        #expect(TransportError.Code(lookupFailure: Int(EAI_NONAME)) == .hostNotFound)
        #expect(TransportError.Code(lookupFailure: Int(EAI_AGAIN)) == .nameLookupFailed)
    }

    @Test("A network monitor reports the device's connection and can be ended")
    func networkPath() async {
        let before = NetworkDevice.shared.monitorCount
        NetworkDevice.shared.move(to: NWPath(.unsatisfied))
        let (paths, path) = AsyncStream<NetworkPath>.makeStream()
        let end = NWNetworkPathSource().observe { path.yield($0) }
        var iterator = paths.makeAsyncIterator()
        let plain = { (status: NetworkPath.Status) in
            NetworkPath(status, isExpensive: false, isConstrained: false)
        }
        #expect(await iterator.next() == plain(.unsatisfied))
        NetworkDevice.shared.move(
            to: NWPath(
                .satisfied,
                isExpensive: true,
                isConstrained: true,
                [
                    NWInterface("pdp_ip0", .cellular), NWInterface("en0", .wifi),
                    NWInterface("en1", .wiredEthernet), NWInterface("utun0", .other),
                    NWInterface("lo0", .loopback),
                ]
            )
        )
        let expected = NetworkPath(
            .satisfied,
            isExpensive: true,
            isConstrained: true,
            interfaces: [
                NetworkInterface("pdp_ip0", kind: .cellular), NetworkInterface("en0", kind: .wifi),
                NetworkInterface("en1", kind: .wired), NetworkInterface("utun0", kind: .other),
                NetworkInterface("lo0", kind: .loopback),
            ]
        )
        #expect(await iterator.next() == expected)
        // A VPN on demand connects on use.
        NetworkDevice.shared.move(to: NWPath(.requiresConnection))
        #expect(await iterator.next() == plain(.satisfied))
        end()
        #expect(NetworkDevice.shared.monitorCount == before)
    }

    // MARK: Sockets

    @Test("A socket connects, sends, and is refused when nothing listens")
    func socket() throws {
        let listener = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(listener, $0, size) == 0)
                #expect(listen(listener, 1) == 0)
                #expect(getsockname(listener, $0, &size) == 0)
            }
        }
        let port = UInt16(bigEndian: address.sin_port)
        let found = try POSIXSocket.addresses(of: "127.0.0.1", port).get()
        let target = try #require(found.first)
        var wakeUp: [Int32] = [0, 0]
        try #require(pipe(&wakeUp) == 0)
        defer { for end in wakeUp { close(end) } }
        guard case .connected(let connected) = POSIXSocket.connect(to: target, orWakeBy: wakeUp[0])
        else {
            Issue.record("The listener was not reached.")
            return
        }
        let accepted = accept(listener, nil, nil)
        #expect(POSIXSocket.send(connected, [1, 2, 3]))
        var bytes: [UInt8] = [0, 0, 0]
        #expect(read(accepted, &bytes, 3) == 3)
        #expect(bytes == [1, 2, 3])
        for descriptor in [connected, accepted, listener] { close(descriptor) }
        guard case .failed = POSIXSocket.connect(to: target, orWakeBy: wakeUp[0]) else {
            Issue.record("A port at which nobody listens was reached.")
            return
        }
    }

    @Test("A thread runs its body")
    func thread() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        #expect(POSIXSocket.detachThread { end.finish() })
        for await _ in ends {}
    }
}
