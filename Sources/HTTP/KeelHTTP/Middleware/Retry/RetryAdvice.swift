package import HTTPTypes
import KeelCore

struct RetryAdvice: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case transient
        case throttling
    }

    var kind = Kind.transient
    /// The maximum number of attempts after such an outcome, including this one.
    var attempts = Int.max
    var asked: Duration?
    /// Whether the connection caused the failure.
    var needsNewConnection = false
}

enum RetryVerdict: Sendable, Hashable {
    /// The outcome is a success, or would be the same again.
    case final
    /// The outcome is transient, but repeating the request is not safe.
    case unsafe(RetryRefusal)
    /// Another attempt may follow if attempts, time and budget allow.
    case may(RetryAdvice)

    init(_ error: TransportError, of call: HTTPCall) {
        var advice = RetryAdvice()
        switch error.code {
        case .circuitOpen:
            self = .unsafe(.circuitOpen)
            return
        // The total time has run out, or this client's own limit would refuse the call again.
        case .cancelled, .deadlineExceeded, .throttled:
            self = .final
            return
        case .poolTimeout, .tlsHandshakeFailed, .proxyFailed:
            advice.attempts = 2
        case .staleConnection, .responseTimeout:
            advice.needsNewConnection = true
        default:
            guard error.isTransient else {
                self = .final
                return
            }
        }
        self.init(advice, wasUnprocessed: error.processed == .no || error.bytesSent == 0, call)
    }

    init(_ reply: HTTPReply, of call: HTTPCall) {
        let response = reply.head
        var advice = RetryAdvice(asked: response.retryAfter)
        var wasUnprocessed = false
        switch response.status.code {
        case 408, 500, 502, 504:
            break
        // The server is still processing an earlier request with this key
        // (draft-ietf-httpapi-idempotency-key-header section 2.7).
        case 409 where max(call.attempt, reply.notes.attempt) > 1 && call.hasIdempotencyKey:
            break
        case 503:
            if response.headerFields[.retryAfter] != nil { advice.kind = .throttling }
        case 429:
            advice.kind = .throttling
        case 421, 425:
            advice.attempts = 2
            advice.needsNewConnection = response.status.code == 421
            wasUnprocessed = true
        default:
            self = .final
            return
        }
        self.init(advice, wasUnprocessed: wasUnprocessed, call)
    }

    private init(_ advice: RetryAdvice, wasUnprocessed: Bool, _ call: HTTPCall) {
        if !wasUnprocessed, !call.isIdempotent {
            self = .unsafe(.notIdempotent)
        } else if !call.isReplayable {
            self = .unsafe(.notReplayable)
        } else {
            self = .may(advice)
        }
    }
}

extension HTTPResponse {
    /// The pause that the server requests (RFC 9110 section 10.2.3), as seconds or as a date.
    ///
    /// A date is compared with the response's own `Date`, because the clock of this device may be wrong; without that
    /// field, it is ignored.
    package var retryAfter: Duration? {
        guard let text = headerFields[.retryAfter] else { return nil }
        if text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // A number that overflows is a very long pause all the same.
            return text.isEmpty ? nil : .seconds(Int64(text) ?? .max / 4)
        }
        guard let sent = headerFields[.date].flatMap({ HTTPDate($0) }),
            let time = HTTPDate(text, reference: sent.seconds)
        else { return nil }
        return .seconds(max(0, time.seconds - sent.seconds))
    }
}
