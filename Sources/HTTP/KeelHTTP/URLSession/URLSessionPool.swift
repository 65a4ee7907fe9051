#if canImport(Darwin) || URLSession
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The sessions of a transport: one for calls without pins, and one per set of pins.
///
/// URLSession presents a server's certificate once per connection and shares connections among the tasks of a session.
final class URLSessionPool: Sendable {
    struct Member: Sendable {
        let session: URLSession
        let exchanges: URLSessionExchanges
    }

    private struct State {
        var members: [(pins: Pins?, member: Member)] = []
        var isShutDown = false
    }

    /// A set of pins without its report closure.
    private struct Pins: Hashable {
        let hosts: [String: Set<PublicKeyPins.Pin>]
        let mode: PublicKeyPins.Mode

        init(_ pins: PublicKeyPins) {
            hosts = pins.hosts
            mode = pins.mode
        }
    }

    private let configuration: URLSessionConfiguration
    private let state = Mutex(State())

    /// The maximum number of sets of pins with a session.
    static let limit = 8

    init(_ configuration: URLSessionConfiguration) { self.configuration = configuration }

    deinit { invalidate() }

    /// Begins a task in the session for calls with these pins; nil after ``invalidate()``.
    ///
    /// Under the lock, because creating a task in an invalidated session ends the process.
    func begin(
        _ pins: PublicKeyPins?,
        _ makeTask: (URLSession) -> URLSessionTask
    ) -> URLSessionExchange? {
        state.withLock { state in
            guard let member = member(for: pins, in: &state) else { return nil }
            return member.exchanges.begin(makeTask(member.session))
        }
    }

    func member(for pins: PublicKeyPins?) -> Member? {
        state.withLock { member(for: pins, in: &$0) }
    }

    private func member(for pins: PublicKeyPins?, in state: inout State) -> Member? {
        guard !state.isShutDown else { return nil }
        let key = pins.map { Pins($0) }
        if let place = state.members.firstIndex(where: { $0.pins == key }) {
            // Keeps the members in the order of their last use.
            let known = state.members.remove(at: place)
            state.members.append(known)
            return known.member
        }
        let pinned = state.members.indices.filter { state.members[$0].pins != nil }
        if key != nil, pinned.count == Self.limit {
            // The calls of the evicted session finish normally.
            state.members.remove(at: pinned[0]).member.session.finishTasksAndInvalidate()
        }
        let exchanges = URLSessionExchanges(pins)
        let session = URLSession(
            configuration: configuration,
            delegate: exchanges,
            delegateQueue: nil
        )
        let member = Member(session: session, exchanges: exchanges)
        state.members.append((key, member))
        return member
    }

    func invalidate() {
        let members = state.withLock { state in
            defer { state.members = [] }
            state.isShutDown = true
            return state.members
        }
        for (_, member) in members { member.session.invalidateAndCancel() }
    }
}
#endif
