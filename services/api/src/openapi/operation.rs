//! One operation: what it is asked and what it answers, with all that every operation has in common.

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathItemBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, ResponseBuilder};
use utoipa::{IntoParams, ToSchema};

use super::shapes::Problem;
use super::{API_KEY, shapes};
use crate::page;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// An operation in the making.
pub(super) struct Operation {
    method: HttpMethod,
    path: &'static str,
    operation: OperationBuilder,
    schemas: Vec<(String, RefOr<Schema>)>,
}

/// A text of this pattern.
pub(super) fn text(pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
}

/// A number from here on.
fn number(minimum: i64) -> ObjectBuilder {
    let int64 = SchemaFormat::KnownFormat(KnownFormat::Int64);
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(int64)).minimum(Some(minimum))
}

/// The same with these headers.
fn announcing(response: ResponseBuilder, headers: &[&str]) -> ResponseBuilder {
    let header = || HeaderBuilder::new().schema(Some(text("^"))).build();
    headers.iter().fold(response, |made, name| made.header(*name, header()))
}

impl Operation {
    /// An operation that only a key opens; which `scope` it needs is said in words, because a bearer has no scopes in OpenAPI.
    pub(super) fn new(method: HttpMethod, path: &'static str, id: &str, scope: &str, summary: &str) -> Self {
        let operation = OperationBuilder::new()
            .operation_id(Some(id))
            .summary(Some(summary))
            .description(Some(format!("Scope `{scope}`.")))
            .security(SecurityRequirement::new::<_, [&str; 0], &str>(API_KEY, []));
        Self::bare(method, path, operation)
            .problem("401", "The key is missing, wrong, revoked or expired.")
            .problem("403", "The key lacks the scope, or its tenant is suspended.")
            .in_path()
    }

    /// An operation that anybody may call.
    pub(super) fn public(path: &'static str, id: &str, summary: &str) -> Self {
        let operation = OperationBuilder::new().operation_id(Some(id)).summary(Some(summary));
        Self::bare(HttpMethod::Get, path, operation.securities(Some([SecurityRequirement::default()])))
    }

    fn bare(method: HttpMethod, path: &'static str, operation: OperationBuilder) -> Self {
        Self { method, path, operation, schemas: Vec::new() }.problem("500", "An error of ours.").problem(
            "503",
            "Something is away, or there is too much at once; `Retry-After` says when to come back.",
        )
    }

    /// The parameters that stand in the path.
    fn in_path(self) -> Self {
        let names: Vec<&str> =
            self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        if names.is_empty() {
            return self;
        }
        let described = self.problem("404", "There is none of this id that the key may see.");
        names.into_iter().fold(described, |operation, name| {
            let schema = match name {
                "export_id" => text("^exp_[0-9a-f]{32}$"),
                "tenant_id" => text("^ten_[0-9a-f]{32}$"),
                "api_key_id" => text("^key_[0-9a-f]{32}$"),
                "seq" => number(1),
                _ => text("^[a-z][a-z0-9_-]{0,62}$"),
            };
            let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
            operation.with(|made| made.parameter(parameter.required(Required::True).schema(Some(schema))))
        })
    }

    fn with(mut self, change: impl FnOnce(OperationBuilder) -> OperationBuilder) -> Self {
        self.operation = change(self.operation);
        self
    }

    /// What may be asked in the query.
    pub(super) fn query<T: IntoParams>(self) -> Self {
        let parameters = T::into_params(|| Some(ParameterIn::Query));
        self.with(|made| parameters.into_iter().fold(made, OperationBuilder::parameter))
            .problem("400", "A parameter is not as it should be.")
    }

    /// The parameters of a list's page, which goes on after what this pattern says.
    pub(super) fn page(self, after: &str) -> Self {
        let said = |name: &str, schema: ObjectBuilder| {
            ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query).schema(Some(schema)).build()
        };
        let limit = number(1).maximum(Some(page::ENTRIES_MAX));
        self.with(|made| made.parameter(said("after", text(after))).parameter(said("limit", limit)))
            .problem("400", "A parameter is not as it should be.")
    }

    /// A header that may be sent, and is passed over where it means nothing: any text will do.
    pub(super) fn may(self, name: &str, what: &str) -> Self {
        let schema = ObjectBuilder::new().schema_type(Type::String);
        self.header(name, Required::False, schema, what)
    }

    fn header(self, name: &str, required: Required, schema: ObjectBuilder, what: &str) -> Self {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(required)
            .description(Some(what))
            .schema(Some(schema));
        self.with(|made| made.parameter(parameter))
    }

    /// The intent that an operation needs.
    pub(super) fn intent(self) -> Self {
        // Visible ASCII with something in it; blanks within it are part of it.
        let key = text("^[!-~]([\\t -~]{0,253}[!-~])?$");
        self.header(
            "Idempotency-Key",
            Required::True,
            key,
            "Chosen before the first try; the same for each one.",
        )
        .problem("400", "The Idempotency-Key is missing or no key, or the request is not as it should be.")
        .problem("422", "The Idempotency-Key stands for another request.")
        .problem("429", "The tenant has as much as it may have; `Retry-After` says when that may change.")
    }

    /// What is sent.
    pub(super) fn body<T: ToSchema>(mut self) -> Self {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let body = RequestBodyBuilder::new().content(JSON, content).required(Some(Required::True)).build();
        self.with(|made| made.request_body(Some(body)))
            .problem("400", "The body is not as it should be; `errors` names every field.")
            .problem("413", "The body is too large.")
            .problem("415", "The body is not declared as JSON.")
    }

    /// What is answered.
    pub(super) fn answers<T: ToSchema>(self, status: &str, what: &str) -> Self {
        self.answers_with::<T>(status, what, &[])
    }

    /// What is answered, with these headers.
    pub(super) fn answers_with<T: ToSchema>(mut self, status: &str, what: &str, headers: &[&str]) -> Self {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let response = ResponseBuilder::new().description(what).content(JSON, content);
        self.respond(status, announcing(response, headers))
    }

    /// What is answered one after the other, as server-sent events.
    pub(super) fn streams<T: ToSchema>(mut self, status: &str, what: &str) -> Self {
        let content = ContentBuilder::new().schema(Some(self.refer::<T>())).build();
        let response = ResponseBuilder::new().description(what).content("text/event-stream", content);
        self.respond(status, response)
    }

    /// What is answered in another form, with these headers.
    pub(super) fn responds(
        self,
        status: &str,
        what: &str,
        media_type: Option<&str>,
        headers: &[&str],
    ) -> Self {
        let bytes = || ContentBuilder::new().schema(Some(text("^"))).build();
        let response = ResponseBuilder::new().description(what);
        let response = media_type.into_iter().fold(response, |made, form| made.content(form, bytes()));
        self.respond(status, announcing(response, headers))
    }

    /// How it refuses.
    pub(super) fn problem(mut self, status: &str, what: &str) -> Self {
        let content = ContentBuilder::new().schema(Some(self.refer::<Problem>())).build();
        let response = ResponseBuilder::new().description(what).content(PROBLEM, content);
        let waits = matches!(status, "429" | "503");
        let seconds = || HeaderBuilder::new().schema(Some(number(1))).build();
        let response = if waits { response.header("Retry-After", seconds()) } else { response };
        self.respond(status, response)
    }

    fn respond(self, status: &str, response: ResponseBuilder) -> Self {
        let id = HeaderBuilder::new().schema(Some(text(shapes::REQUEST_ID))).build();
        self.with(|made| made.response(status, response.header("X-Request-Id", id)))
    }

    /// A reference to a shape, which the document then has.
    fn refer<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(&mut self.schemas);
        Ref::from_schema_name(T::name()).into()
    }

    /// The shapes that it refers to.
    pub(super) fn schemas(&self) -> Vec<(String, RefOr<Schema>)> {
        self.schemas.clone()
    }

    /// Its place in the document.
    pub(super) fn into_path(self) -> (&'static str, PathItem) {
        (self.path, PathItemBuilder::new().operation(self.method, self.operation).build())
    }
}
