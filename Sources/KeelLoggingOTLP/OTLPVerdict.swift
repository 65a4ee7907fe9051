#if Logging

internal import HTTPTypes
internal import KeelHTTP

/// What an answer of a collector means for the records of its request.
///
/// The OTLP specification, "OTLP/HTTP Response": 429, 502, 503 and 504 are repeated, other refusals
/// are not.
enum OTLPVerdict: Hashable {
    /// It has been dealt with; the body may say that some records were refused.
    case accepted
    /// It is sent again after a pause.
    case later(asked: Duration?)
    /// It is not about these records, but about the address or the credentials: sending them again
    /// makes sense once somebody has mended that.
    case misdirected
    /// Something in it is refused: the smaller the request, the fewer records that hits.
    case refused

    init(_ response: HTTPResponse) {
        switch response.status.code {
        case 200..<300: self = .accepted
        case 408, 425, 429, 502, 503, 504: self = .later(asked: response.retryAfter)
        case 300..<400, 401, 403, 404, 405, 407, 421, 511: self = .misdirected
        default: self = .refused
        }
    }
}

#endif
