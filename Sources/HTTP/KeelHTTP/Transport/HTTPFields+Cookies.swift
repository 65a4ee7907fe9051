package import HTTPTypes

extension HTTPFields {
    /// The fields with all cookies in one field, because HTTP/1.1 allows no more (RFC 6265 section 5.4).
    ///
    /// HTTPTypes makes a field of each cookie, and so do clients of HTTP/2 (RFC 9113 section 8.2.3).
    package var joiningCookies: HTTPFields {
        guard lazy.filter({ $0.name == .cookie }).count > 1, let cookies = self[.cookie] else {
            return self
        }
        var fields = self
        fields[values: .cookie] = [cookies]
        return fields
    }
}
