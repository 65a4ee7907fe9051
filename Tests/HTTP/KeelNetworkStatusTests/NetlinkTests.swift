#if os(Linux)
import Foundation
import Glibc
import KeelTestKit
import Synchronization
import Testing

@testable import KeelNetworkStatus

@Suite("Network status from the Linux kernel")
struct NetlinkTests {
    @Test("Recorded netlink messages give interfaces and default routes")
    func readsRecording() throws {
        let links = NetlinkMessage.read(NetlinkRecording.links, answering: 1)
        let names = links.compactMap { message -> String? in
            guard case .link(let link) = message else { return nil }
            return "\(link.name) \(link.isRunning) \(link.isLoopback) \(link.kind)"
        }
        #expect(
            names.sorted() == [
                "eth0 true false wired", "lo true true loopback", "peer0 true false other",
                "peer1 true false other", "wlan0 true false wifi",
            ]
        )
        #expect(links.last == .done(1))
        let index = Dictionary(
            uniqueKeysWithValues: links.compactMap { message -> (String, Int32)? in
                guard case .link(let link) = message else { return nil }
                return (link.name, link.index)
            }
        )
        let eth0 = try #require(index["eth0"])
        let wlan0 = try #require(index["wlan0"])
        let routes4 = NetlinkMessage.read(NetlinkRecording.routes4, answering: 2)
        #expect(
            routes4 == [
                .defaultRoute(interfaces: [eth0]), .defaultRoute(interfaces: [eth0, wlan0]),
                .done(2),
            ]
        )
        let routes6 = NetlinkMessage.read(NetlinkRecording.routes6, answering: 3)
        #expect(routes6 == [.defaultRoute(interfaces: [eth0]), .done(3)])
        #expect(NetlinkMessage.read(NetlinkRecording.notification, answering: 4) == [.change])
    }

    @Test(
        "A route that another process removes is a change, whatever the number of its request",
        arguments: [4, 1_796_036_332] as [UInt32]
    )
    func noticesOtherProcesses(request: UInt32) {
        let messages = NetlinkMessage.read(NetlinkRecording.removal, answering: request)
        #expect(messages == [.change])
    }

    @Test("Truncated or damaged messages are read without a crash")
    func readsBrokenBytes() {
        for recording in [NetlinkRecording.links, NetlinkRecording.routes4] {
            let whole = NetlinkMessage.read(recording, answering: 1).count
            for count in recording.indices {
                #expect(
                    NetlinkMessage.read(Array(recording[..<count]), answering: 1).count <= whole
                )
            }
            var random = SeededRandom(seed: 1)
            for _ in 0..<2000 {
                var bytes = recording
                for _ in 0..<4 {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
                }
                _ = NetlinkMessage.read(bytes, answering: 1)
            }
        }
    }

    @Test(
        "The path is satisfied if a default route uses a running interface",
        arguments: [
            ([], 0x1_1043, "unsatisfied"), ([[2]], 0x1_1043, "satisfied"),
            ([[2]], 0x1003, "unsatisfied"), ([[2]], 0x1_1042, "unsatisfied"),
            ([[2]], 0x49, "unsatisfied"), ([[3]], 0x1_1043, "unsatisfied"),
            ([[3], [2]], 0x1_1043, "satisfied"), ([[]], 0x1_1043, "unsatisfied"),
        ] as [([[Int32]], UInt32, String)]
    )
    func decides(routes: [[Int32]], flags: UInt32, status: String) {
        let link = NetlinkLink(index: 2, name: "eth0", flags: flags)
        let path = NetworkPath.made(of: [link], routes: routes)
        #expect("\(path.status)" == status)
    }

    @Test("A cellular path is expensive")
    func tellsExpense() {
        let link = NetlinkLink(index: 2, name: "wwan0", flags: 0x41)
        let path = NetworkPath.made(of: [link], routes: [[2]])
        #expect(path.isExpensive == true)
        #expect(path.interfaces == [NetworkInterface("wwan0", kind: .cellular)])
    }

    @Test("The kernel of this machine responds")
    func asksThisMachine() async {
        var paths = NetworkStatus(NetlinkPathSource()).paths.makeAsyncIterator()
        let status = await paths.next()?.status
        #expect(status == .satisfied || status == .unsatisfied)
    }

    @Test(
        "Changes of interfaces and routes are detected",
        .enabled(
            if: NetworkNamespace.isAvailable,
            "It needs root, network namespaces, virtual Ethernet pairs and the command ip."
        )
    )
    func followsKernel() async {
        let failures = await NetworkNamespace.run { namespace in
            let seen = Latest()
            let end = NetlinkPathSource().observe { seen.set($0) }
            namespace.expect(seen, .unsatisfied, "nothing but a loopback interface")
            namespace.ip("link set lo up")
            namespace.ip("link add eth0 type veth peer name peer0")
            namespace.ip("link set peer0 up")
            namespace.ip("link set eth0 up")
            namespace.ip("addr add 192.0.2.2/24 dev eth0")
            namespace.ip("route add default via 192.0.2.1")
            namespace.expect(seen, .satisfied, "a route")
            namespace.check(seen.path?.interfaces.map(\.name) == ["eth0"], "its interface")
            namespace.ip("link set peer0 down")
            namespace.expect(seen, .unsatisfied, "no carrier")
            namespace.ip("link set peer0 up")
            namespace.expect(seen, .satisfied, "a carrier")
            namespace.ip("link set eth0 down")
            namespace.expect(seen, .unsatisfied, "an interface switched off")
            namespace.ip("link set eth0 up")
            namespace.ip("-6 route add default dev eth0")
            namespace.expect(seen, .satisfied, "a route of IPv6 only")
            namespace.ip("link del eth0")
            namespace.expect(seen, .unsatisfied, "an interface taken away")
            end()
            end()
        }
        #expect(failures == [])
    }
}

/// The path reported last.
private final class Latest: Sendable {
    private let state = Mutex<NetworkPath?>(nil)
    let changes = DispatchSemaphore(value: 0)
    var path: NetworkPath? { state.withLock { $0 } }

    func set(_ path: NetworkPath) {
        state.withLock { $0 = path }
        changes.signal()
    }
}

/// A network namespace for one thread, which ends with the thread.
private final class NetworkNamespace {
    private var failures: [String] = []

    static let isAvailable: Bool = {
        guard geteuid() == 0, FileManager.default.fileExists(atPath: "/sbin/ip") else {
            return false
        }
        let works = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let namespace = NetworkNamespace()
            let isApart = leaveNetwork()
            if isApart { namespace.ip("link add try0 type veth peer name try1") }
            works.withLock { $0 = isApart && namespace.failures.isEmpty }
            done.signal()
        }
        done.wait()
        return works.withLock { $0 }
    }()

    /// Runs a block on a thread in its own namespace; returns the failures.
    static func run(_ block: @escaping @Sendable (NetworkNamespace) -> Void) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let namespace = NetworkNamespace()
                guard leaveNetwork() else {
                    continuation.resume(returning: ["unshare failed"])
                    return
                }
                block(namespace)
                continuation.resume(returning: namespace.failures)
            }
        }
    }

    /// Calls `unshare(CLONE_NEWNET)`, which the C library's module map leaves out.
    private static func leaveNetwork() -> Bool {
        guard let symbol = dlsym(nil, "unshare") else { return false }
        typealias Unshare = @convention(c) (CInt) -> CInt
        return unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000) == 0
    }

    func check(_ condition: Bool, _ what: String) {
        if !condition { failures.append(what) }
    }

    /// Waits at most a minute until a status is reported.
    func expect(_ latest: Latest, _ status: NetworkPath.Status, _ what: String) {
        while latest.path?.status != status {
            guard latest.changes.wait(timeout: .now() + 60) == .success else {
                failures.append("\(what): \(latest.path as Any)")
                return
            }
        }
    }

    /// Runs the command `ip`; a child process is in the thread's namespace.
    func ip(_ arguments: String) {
        let words = ["/sbin/ip"] + arguments.split(separator: " ").map(String.init)
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        var status: Int32 = -1
        guard posix_spawn(&child, "/sbin/ip", nil, nil, &pointers, environ) == 0,
            waitpid(child, &status, 0) == child, status == 0
        else {
            failures.append("ip \(arguments)")
            return
        }
    }
}
#endif
