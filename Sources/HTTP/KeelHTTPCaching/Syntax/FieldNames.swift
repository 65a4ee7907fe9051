import HTTPTypes
import KeelHTTP

extension HTTPField.Name {
    /// `Cache-Status` (RFC 9211).
    static let cacheStatus = known("Cache-Status")
    /// `Cache-Groups` (RFC 9875).
    static let cacheGroups = known("Cache-Groups")
    /// `Cache-Group-Invalidation` (RFC 9875).
    static let cacheGroupInvalidation = known("Cache-Group-Invalidation")
    /// `Pragma` (RFC 9111 section 5.4), which only old clients send.
    static let pragma = known("Pragma")

    /// The fields that set a cookie (RFC 6265, and RFC 2965 before it).
    static let cookieSetting = [setCookie, known("Set-Cookie2")]
}
