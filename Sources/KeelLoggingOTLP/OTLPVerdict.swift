#if Logging

internal import HTTPTypes
internal import KeelHTTP

/// What an answer of a collector means for the records of its request.
///
/// The OTLP specification, "OTLP/HTTP Response", repeats 429, 502, 503 and 504 only. Here a status of
/// 500 and above never costs a record: it says that the collector failed, and nothing about what was
/// sent.
enum OTLPVerdict: Hashable {
    /// It has been dealt with; the body may say that some records were refused.
    case accepted
    /// It is sent again after a pause.
    case later(asked: Duration?)
    /// It is not about these records, but about the address, the form or the credentials: sending
    /// them again makes sense once somebody has mended that.
    case misdirected
    /// Something in it is refused: the smaller the request, the fewer records that hits.
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
