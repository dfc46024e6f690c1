//! By which names this server is reached. A page of elsewhere that got hold of another name for this machine is turned away.

use std::net::{IpAddr, SocketAddr};

/// The names of this machine that no other one can have.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names of this server.
#[derive(Clone, Debug)]
pub(crate) struct Doors {
    listens_on: SocketAddr,
    /// `https://querent.example`, without a path.
    public: Option<String>,
    /// The hosts that only this machine itself uses, with the port.
    local: Vec<String>,
}

impl Doors {
    pub(crate) fn new(listens_on: SocketAddr, public_url: Option<&str>) -> Self {
        let public = public_url.and_then(|url| {
            let (scheme, rest) = url.split_once("://")?;
            let host = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
            Some(format!("{}://{host}", scheme.to_ascii_lowercase()))
        });
        let port = listens_on.port();
        let mut local: Vec<String> = LOCAL.iter().map(|name| format!("{name}:{port}")).collect();
        local.extend(LOCAL.iter().filter(|_| port == 80).map(ToString::to_string));
        local.extend(listens_on.ip().is_loopback().then(|| listens_on.to_string()));
        Self { listens_on, public, local }
    }

    /// What links begin with.
    pub(crate) fn base(&self) -> String {
        self.public.clone().unwrap_or_else(|| format!("http://{}", self.listens_on))
    }

    /// Whether browsers come by https alone.
    pub(crate) fn is_secure(&self) -> bool {
        self.public.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Whether a request that names this host is meant for us. Names can be made to point here by anybody; numbers cannot.
    pub(crate) fn knows_host(&self, host: &str) -> bool {
        self.is_local(host) || self.is_public(host) || (!self.listens_on.ip().is_loopback() && self.is_number(host))
    }

    /// Whether it is a name that only this machine itself uses.
    pub(crate) fn is_local(&self, host: &str) -> bool {
        // Most write it as we do.
        self.local.iter().any(|name| name == host) || self.local.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    /// Whether a page of this origin is one of ours, asked for under this host.
    pub(crate) fn knows_origin(&self, origin: &str, host: &str) -> bool {
        let (origin, host) = (origin.to_ascii_lowercase(), host.to_ascii_lowercase());
        self.public.as_ref() == Some(&origin) || (self.knows_host(&host) && origin == format!("http://{host}"))
    }

    fn is_public(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.public.as_deref().and_then(|url| url.split_once("://")).is_some_and(|(scheme, name)| {
            let usual = if scheme == "https" { ":443" } else { ":80" };
            host == name || host.strip_suffix(usual) == Some(name)
        })
    }

    fn is_number(&self, host: &str) -> bool {
        let address = host.parse::<SocketAddr>().ok().filter(|address| address.port() == self.listens_on.port());
        address.is_some() || (self.listens_on.port() == 80 && host.parse::<IpAddr>().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_others_can_give_to_this_machine_is_not_ours() {
        let doors = Doors::new("127.0.0.1:7711".parse().unwrap(), None);

        for ours in ["127.0.0.1:7711", "localhost:7711", "LOCALHOST:7711", "[::1]:7711"] {
            assert!(doors.knows_host(ours), "{ours}");
        }
        for not_ours in
            ["evil.example:7711", "localhost.evil.example:7711", "localhost", "127.0.0.1:80", "10.0.0.1:7711", ""]
        {
            assert!(!doors.knows_host(not_ours), "{not_ours}");
        }
        assert!(doors.knows_origin("http://127.0.0.1:7711", "127.0.0.1:7711"));
        for other in ["http://127.0.0.1:1", "https://127.0.0.1:7711", "null", "http://evil.example:7711", ""] {
            assert!(!doors.knows_origin(other, "127.0.0.1:7711"), "{other}");
        }
        assert!(!doors.knows_origin("http://evil.example:7711", "evil.example:7711"));
    }

    #[test]
    fn the_public_name_is_ours_but_is_not_local() {
        let doors = Doors::new("127.0.0.1:7711".parse().unwrap(), Some("https://querent.example/"));

        assert!(doors.knows_host("querent.example") && doors.knows_host("Querent.example:443"));
        assert!(!doors.is_local("querent.example"));
        assert!(doors.knows_origin("https://querent.example", "querent.example"));
        assert!(!doors.knows_origin("http://querent.example", "querent.example:1"));
        assert!(doors.is_secure());
        assert_eq!(doors.base(), "https://querent.example");
    }

    #[test]
    fn an_open_address_is_reached_by_number_and_not_by_a_strangers_name() {
        let doors = Doors::new("0.0.0.0:7711".parse().unwrap(), None);

        assert!(doors.knows_host("192.168.1.5:7711"));
        assert!(!doors.is_local("192.168.1.5:7711"));
        assert!(!doors.knows_host("evil.example:7711") && !doors.knows_host("192.168.1.5:7712"));
        assert!(doors.knows_origin("http://192.168.1.5:7711", "192.168.1.5:7711"));
    }
}
