#if Logging

internal import HTTPTypes
internal import KeelHTTP

/// The meaning of a collector's response for the records of its request.
///
/// The OTLP specification, "OTLP/HTTP Response", retries only 429, 502, 503 and 504. Here no status
/// from 500 up costs a record: it says that the collector failed, and nothing about the records.
enum OTLPVerdict: Hashable {
    /// The request was processed; the body may list refused records.
    case accepted
    /// The request is retried after a delay.
    case later(asked: Duration?)
    /// The URL, format or credentials are wrong: retrying makes sense once that is fixed.
    case misdirected
    /// Something in the request is refused; smaller requests narrow it down.
    case refused

    init(_ response: HTTPResponse) {
        switch response.status.code {
        case 200..<300: self = .accepted
        case 400, 413, 422: self = .refused
        case 408, 421, 425, 429, 500...: self = .later(asked: response.retryAfter)
        default: self = .misdirected
        }
    }
}

#endif
