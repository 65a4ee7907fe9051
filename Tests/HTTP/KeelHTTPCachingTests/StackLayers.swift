import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelTestKit
import Synchronization

/// The names and passwords of clients without a session.
enum StackAccounts {
    private static let credentials = [0, 1].compactMap {
        BasicCredentials(user: "basic\($0)", password: "secret")
    }
    /// Created once, because naming such a layer takes some milliseconds.
    static let layers = credentials.map {
        BasicAuthorization($0, origins: StackLife.home.map { [$0] } ?? [])
    }
    private static let names = Dictionary(
        uniqueKeysWithValues: credentials.map { ($0.authorization, $0.user) }
    )

    static func name(of field: String) -> String? { names[field] }
}

/// Sets a field of each request, as an app's middleware would.
struct FieldLayer: HTTPMiddleware {
    let name: HTTPField.Name
    let value: @Sendable () -> String?

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        var call = call
        call.head.headerFields[name] = value()
        return try await next(call)
    }
}

// MARK: - Broken layers

/// A deliberate flaw for the simulation to find.
enum StackFlaw: CaseIterable, Sendable {
    /// A layer repeats every failed request.
    case repeatingPost
    /// A layer retains every reply that it passes on.
    case heldReply
    /// A layer retains the replies that it decodes.
    case heldDecodedReply
    /// A layer signs all requests, whatever their destination.
    case talkative
    /// A token is sent to a redirect's foreign origin.
    case foreignOrigin
    /// A layer drops the pins when it repeats a request.
    case forgottenPins
    /// A cache does not see what an answer depends on.
    case ignoredVary
    case sharedPartition
    /// A cache does not learn of changes.
    case missedChange
    /// Calls of different users share a reply.
    case droppedUser
    /// A limit does not regain the slot of a failed call.
    case leakedPlace
    /// A stall timeout of uploads counts the time in which they wait.
    case impatient
    /// A layer continues after its call was canceled.
    case deafToLimits
    /// A layer never answers if the connection was lost.
    case lostCall
}

struct RepeatingLayer: HTTPMiddleware {
    let forgetsPins: Bool

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await next(call)
        } catch {
            guard !forgetsPins || call.head.method == .get else { throw error }
            var again = call
            if forgetsPins { again.options.pins = nil }
            return try await next(again)
        }
    }
}

final class HoardingLayer: HTTPMiddleware {
    private let isForCodedOnly: Bool
    private let replies = Mutex<[HTTPReply]>([])

    init(forCodedOnly: Bool) { isForCodedOnly = forCodedOnly }

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        let reply = try await next(call)
        if !isForCodedOnly || reply.head.headerFields[.contentEncoding] != nil {
            replies.withLock { $0.append(reply) }
        }
        return reply
    }
}

/// Placed below a cache.
struct VaryHidingLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        var reply = try await next(call)
        reply.head.headerFields[.vary] = nil
        return reply
    }
}

/// Placed above a cache; hides changes from it.
struct ChangeHidingLayer: HTTPMiddleware {
    let cache: HTTPCachingMiddleware

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        guard [.get, .head].contains(call.head.method) else { return try await next(call) }
        return try await cache.intercept(call, next: next)
    }
}

/// Shares replies for one address among all callers.
struct UserBlindLayer: HTTPMiddleware {
    let coalescing: CoalescingMiddleware

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        var blind = call
        blind.options.signer = nil
        let signer = call.options.signer
        return try await coalescing.intercept(
            blind,
            next: HTTPNext { shared async throws(TransportError) in
                var seeing = shared
                seeing.options.signer = signer
                return try await next(seeing)
            }
        )
    }
}

final class LeakingLayer: HTTPMiddleware {
    private let limit: ConcurrencyLimitMiddleware
    private let held = Mutex<[HTTPReply]>([])

    init(_ limit: ConcurrencyLimitMiddleware) { self.limit = limit }

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await limit.intercept(call, next: next)
        } catch {
            let empty = HTTPNext { _ in HTTPReply(head: HTTPResponse(status: .ok)) }
            let place = try await limit.intercept(call, next: empty)
            held.withLock { $0.append(place) }
            throw error
        }
    }
}

/// Ends an upload whose body was not requested within its limit.
struct ImpatientLayer: HTTPMiddleware {
    let clock: TestClock

    private final class Notes: Sendable {
        let isOpen = Atomic(false)
    }

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        guard let body = call.body, body.bytes == nil else { return try await next(call) }
        let notes = Notes()
        var watched = call
        watched.body = HTTPBody(length: body.length, isReplayable: body.isReplayable) {
            () async throws(TransportError) in
            notes.isOpen.store(true, ordering: .relaxed)
            return try await body.open()
        }
        let upload = watched
        let result = await withTaskGroup(of: Result<HTTPReply, TransportError>?.self) { group in
            group.addTask {
                do throws(TransportError) {
                    return .success(try await next(upload))
                } catch { return .failure(error) }
            }
            group.addTask {
                try? await clock.sleep(for: StackLife.limit)
                return nil
            }
            for await result in group {
                if let result {
                    group.cancelAll()
                    return result
                }
                guard !notes.isOpen.load(ordering: .relaxed) else { continue }
                group.cancelAll()
                await group.waitForAll()
                return .failure(TransportError(.writeTimeout))
            }
            return .failure(TransportError(.cancelled))
        }
        return try result.get()
    }
}

struct DeafLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        let task = Task { () async -> Result<HTTPReply, TransportError> in
            do throws(TransportError) {
                return .success(try await next(call))
            } catch { return .failure(error) }
        }
        return try await task.value.get()
    }
}

struct LosingLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await next(call)
        } catch {
            guard error.code == .connectionLost else { throw error }
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            throw error
        }
    }
}
