/// The default content types of files, by extension, as registered with IANA.
package enum ContentTypes {
    /// The type of files with an unknown extension.
    package static let unknown = "application/octet-stream"

    package static func type(of path: FileStorePath) -> String {
        byExtension[path.fileExtension] ?? unknown
    }

    private static let byExtension: [String: String] = [
        "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "css": "text/css",
        "csv": "text/csv", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
        "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown",
        "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "oga": "audio/ogg",
        "ogg": "audio/ogg", "ogv": "video/ogg", "otf": "font/otf", "pdf": "application/pdf",
        "png": "image/png", "svg": "image/svg+xml",
        "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain",
        "wasm": "application/wasm", "wav": "audio/vnd.wave", "webm": "video/webm",
        "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        "zip": "application/zip",
    ]
}

extension FileStorePath {
    /// The default content type of a file: that of the path's extension, or `application/octet-stream`.
    public var defaultContentType: String { ContentTypes.type(of: self) }
}
